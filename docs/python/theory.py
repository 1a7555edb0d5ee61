# # Theory in Python
#
# `sluice.theory` has the closed forms and solvers with which the simulator is compared ([theory](../theory.md)): the
# saturated cell, hidden senders, single-server queues, the models of SWAN, ALT, DNB, T-MAC, biased queue management and
# energy, and the E-model. Arguments are numbers, sequences or arrays, which are broadcast as in numpy; results are
# numpy arrays. It needs numpy: `pip install numpy`. The equations and their sources are in the documentation of the
# crate `theory`.
#
# ## A cell, predicted and simulated
#
# This predicts the saturated cell of 802.11b at 11 Mb/s with 1000 bytes of UDP payload, as a function of the number of
# stations. The times are those of the frames: 966 us of data, 304 us of ACK, SIFS of 10 us, DIFS of 50 us; stations
# that collided continue after the ACK timeout.

import numpy as np

import sluice
from sluice import theory

data_s, ack_s, sifs_s, difs_s, slot_s = 966e-6, 304e-6, 10e-6, 50e-6, 20e-6
stations = np.array([1, 2, 5, 10, 20, 50])
cell = theory.dcf(
    stations,
    cw_min=31,
    cw_max=1023,
    attempts=7,
    slot_s=slot_s,
    success_s=data_s + sifs_s + ack_s + difs_s,
    collision_s=data_s + difs_s,
    payload_bytes=1000,
    colliders_resume_s=data_s + sifs_s + slot_s + 192e-6,
)
for n, collides, throughput in zip(stations, cell.collision_probability, cell.throughput_bps, strict=True):
    print(f"{n:2} stations: {collides:.3f} of the frames collide, {throughput / 1e6:.3f} Mb/s")

# This simulates the same cell, with five stations that always have something to send.

network = {
    "title": "Five saturated stations",
    "duration": "20 s",
    "radio": {"standard": "802.11b", "data_rate": "11 Mb/s", "basic_rate": "1 Mb/s", "preamble": "long"},
    "node": [{"name": "ap", "position": ["0 m", "0 m"]}]
    + [{"name": f"s{number}", "position": [f"{number} m", "5 m"]} for number in range(5)],
    "queue": {"limit": 50},
    "flow": [
        {
            "name": f"s{number}",
            "from": f"s{number}",
            "to": "ap",
            "traffic": {"kind": "cbr", "rate": "8 Mb/s", "packet": "1000 B"},
        }
        for number in range(5)
    ],
}
simulated = sluice.Scenario(network).run(seed=1).totals["totals.goodput_bps"][0]
print(f"simulated {simulated / 1e6:.3f} Mb/s, predicted {cell.throughput_bps[2] / 1e6:.3f} Mb/s")
assert abs(simulated / cell.throughput_bps[2] - 1) < 0.03

# ## Groups
#
# A model of several groups, queues or hops takes them along the last axis. Here one buffer is split over four queues
# whose drops cost 1 to 4, for three sizes of the buffer.

print(theory.dnb_split_whole([6, 12, 20], costs=[1, 2, 3, 4]))

# ## Where there is no answer
#
# Arguments outside their range raise `sluice.TheoryError`, with the place of the first that is wrong.

try:
    theory.mm1(arrivals_per_s=[80, 120], services_per_s=100)
except sluice.TheoryError as error:
    print(error.index, error)
    assert error.index == 1
