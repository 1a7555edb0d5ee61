"""The closed forms: values of the crate's own tests, shapes, and what is refused."""

import inspect
import itertools
import math
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import sluice
from sluice import theory
from sluice.theory._glossary import GLOSSARY

# 802.11b at 11 Mb/s with 1000 B of payload, and 802.11a: the cells of crates/theory/tests/dcf.rs.
WINDOWS = {"cw_min": 31, "cw_max": 1023, "slot_s": 20e-6}
DSSS = {**WINDOWS, "success_s": 1330e-6, "collision_s": 1016e-6, "payload_bytes": 1000}
SWAN = {**WINDOWS, "success_s": 1600e-6, "collision_s": 1400e-6}


def test_single_servers_by_hand():
    queue = theory.mm1([8.0, 3.0], 10.0)
    assert queue.load == pytest.approx([0.8, 0.3])
    assert queue.mean_number[0] == pytest.approx(4)
    assert queue.mean_sojourn_s[0] == pytest.approx(0.5)
    assert queue.mean_wait_s[0] == pytest.approx(0.4)
    assert theory.mm1_sojourn_quantile_s(8, 10, [0, 0.5]) == pytest.approx([0, 0.5 * math.log(2)])
    constant = theory.mg1(8, 0.1)
    assert (constant.mean_wait_s, constant.mean_number) == (pytest.approx(0.2), pytest.approx(2.4))
    assert theory.mg1(3, 0.1, 0.01).mean_number == pytest.approx(theory.mm1(3, 10).mean_number)
    full = theory.mm1k([5, 20, 10], 10, [2, 2, 4])
    assert full.loss_probability == pytest.approx([1 / 7, 4 / 7, 0.2])
    assert full.mean_number == pytest.approx([4 / 7, 10 / 7, 2])
    assert full.mean_sojourn_s[0] == pytest.approx((4 / 7) / (5 * 6 / 7))


def test_saturated_cells():
    solved = theory.dcf(10, **DSSS, attempts=7, colliders_resume_s=1188e-6)
    assert solved.collision_probability == pytest.approx(0.282, abs=0.005)
    assert solved.throughput_bps == pytest.approx(5.02e6, rel=0.01)
    for freezing in [{}, {"colliders_resume_s": 1188e-6}]:
        alone = theory.dcf(1, **DSSS, attempts=7, **freezing)
        assert alone.throughput_bps == pytest.approx(8000 / 1640e-6, rel=1e-9)
    limited, endless = theory.dcf(20, **DSSS, attempts=[7, np.inf]).drop_probability
    assert limited == pytest.approx(float(theory.dcf(20, **DSSS, attempts=7).collision_probability) ** 7)
    assert endless == 0


def test_aggregates_categories_and_groups():
    ht = {"cw_min": 15, "cw_max": 1023, "slot_s": 9e-6, "success_s": 2014e-6, "collision_s": 1966e-6}
    for freezing in [{}, {"colliders_resume_s": 2000e-6}]:
        solved = theory.ampdu(1, 10, 0.25, **ht, payload_bytes=1500, attempts=7, **freezing)
        assert solved.throughput_bps == pytest.approx(7.5 * 12_000 / (2014e-6 + 67.5e-6), rel=1e-9)
        assert solved.transmissions_per_mpdu == pytest.approx(4 / 3)
    medium = {"slot_s": 9e-6, "sifs_s": 16e-6, "answer_s": 44e-6, "payload_bytes": 1000, "attempts": 7}
    alone = theory.edca([1], group=[0], aifsn=[2], cw_min=15, cw_max=1023, frame_s=180e-6, **medium)
    assert alone.throughput_bps == pytest.approx([8000 / 325.5e-6], rel=1e-9)
    both = {"aifsn": [2, 3], "cw_min": [7, 15], "cw_max": [15, 1023], "frame_s": [180e-6, 248e-6], **medium}
    same, apart = (theory.edca([5, 5], group=group, **both) for group in ([0, 0], [0, 1]))
    assert same.internal_collision_probability[1] > 0 == apart.internal_collision_probability[1]
    for stations in [1, 2, 10, 50]:
        solved = theory.unsaturated(stations, 1e9, **DSSS, queue=False)
        expected = theory.dcf(stations, **DSSS)
        assert solved.tau == pytest.approx([float(expected.tau)])
        assert solved.throughput_bps * stations == pytest.approx([float(expected.throughput_bps)])
    light = theory.unsaturated([10], [[2.0], [10.0], [30.0]], **DSSS)
    assert light.successes_per_s == pytest.approx(np.array([[2.0], [10.0], [30.0]]), rel=0.03)


def test_hidden_pairs():
    ofdm = {"cw_max": 1023, "slot_s": 9e-6, "sifs_s": 16e-6, "ack_s": 28e-6, "difs_s": 34e-6, "timeout_s": 50e-6}
    pair = {**ofdm, "turnaround_s": 0, "payload_bytes": 1000}
    wide = theory.hidden_pair(100e-6, cw_min=1023, attempts=1, **pair)
    assert wide.success_probability == pytest.approx(1 - 200 / (1023 / 2 * 9 + 178), abs=0.01)
    pair["cw_max"] = 63
    plain = theory.hidden_pair(1500e-6, cw_min=15, attempts=3, **pair)
    guarded = theory.hidden_pair(1500e-6, cw_min=15, attempts=3, rts_cts=(52e-6, 44e-6, 2), **pair)
    assert guarded.throughput_bps > plain.throughput_bps
    with pytest.raises(sluice.TheoryError, match="too short compared with the ACK"):
        theory.hidden_pair(180e-6, cw_min=15, **{**pair, "timeout_s": 300e-6})


def test_swans_vectors():
    solved = theory.swan_mac_delay(4, [0.2, 0.5, 1.0], [8, 32, 8], [0.8, 0.9, 1.0], **SWAN)
    assert solved.tau_real_time == pytest.approx([0.040371, 0.020255, 0.034340], abs=5e-7)
    assert solved.tau_best_effort == pytest.approx([0.042283, 0.020636, 0.034340], abs=5e-7)
    assert solved.collision_probability_real_time == pytest.approx([0.258894, 0.467637, 0.319130], abs=5e-7)
    assert solved.collision_probability_best_effort == pytest.approx([0.239141, 0.463056, 0.319130], abs=5e-7)
    assert solved.transmission_probability == pytest.approx([0.264878, 0.473028, 0.342511], abs=5e-7)
    assert solved.success_probability == pytest.approx([0.867683, 0.720198, 0.819176], abs=5e-7)
    assert solved.packets_per_s == pytest.approx([532.63, 459.80, 511.27], abs=5e-3)
    assert solved.mac_delay_s == pytest.approx([13.518e-3, 66.985e-3, 23.471e-3], abs=5e-7)
    assert np.isnan(theory.swan_mac_delay(1, 1, 0, 0, **SWAN).tau_best_effort)
    video = (4, 200e3 / 4096, [3e-3, 5e-3])
    best = theory.swan_equilibrium(*video, **SWAN)
    assert best.busy_real_time == pytest.approx([0.14648, 0.24414], abs=5e-6)
    assert best.backlogged == pytest.approx([0.9248, 1.6179], abs=5e-5)
    assert best.is_valid.tolist() == [0, 1]
    assert best.tau_best_effort[1] == pytest.approx(0.055275, abs=5e-7)
    assert best.collision_probability_best_effort[1] == pytest.approx(0.082968, abs=5e-7)
    assert theory.swan_busy_of_each(8, *video, **SWAN)[1] == pytest.approx(1.6179 / 8, rel=0.1)


def test_alts_vectors():
    growth, a, b, backoff, spread = [5, 5, 50, 5, 17.5], [10, 100, 10, 10, 10], 1, [0.5, 0.5, 0.5, 0.75, 0.5], 1.0
    buffer = theory.alt_buffer(a, b, growth, spread=[1, 1, 1, 1, 0.8], backoff=backoff)
    assert buffer.lambda_emptied == pytest.approx([0, -7.5, 0.8824, -0.4167, 0.7297], abs=5e-5)
    assert buffer.gamma_emptied == pytest.approx([0.8333, 8.3333, 0.0980, 0.4167, 0.2162], abs=5e-5)
    assert buffer.fixed_point == pytest.approx([0.8333, 0.9804, 0.8333, 0.2941, 0.8], abs=5e-5)
    assert buffer.is_stable.tolist() == [1, 0, 1, 1, 1]
    size = 1000.0
    for _ in range(60):
        size = theory.alt_next(size, 338, 10, b, 5, spread=spread, backoff=0.5)
    assert size / 338 == pytest.approx(0.8333, abs=5e-5)
    flows = theory.alt_traffic([[0.2, 0.2], [0.1, 0.2]])
    assert flows.growth_packets_per_s == pytest.approx([10, 15])
    assert flows.acceleration_packets_per_s2 == pytest.approx([50, 125])
    assert flows.spread == pytest.approx([1, 0.9])


def test_shared_buffers():
    assert theory.dnb_split(10, [1, 4]).tolist() == [3, 7]
    assert theory.dnb_split(12, [1, 2, 3, 4]) == pytest.approx([1.60, 2.68, 3.51, 4.21], abs=0.005)
    assert theory.dnb_split_whole([12, 20, 6], [1, 2, 3, 4]).tolist() == [[2, 3, 3, 4], [3, 4, 6, 7], [1, 1, 2, 2]]
    assert theory.dnb_split_whole(10, [1, 1], loads=[0, 1], least_packets=2).tolist() == [2, 8]
    loads = np.array([0.3, 1.0, 2.0])
    assert theory.dnb_drop_probability(loads, 5) == pytest.approx(theory.mm1k(loads, 1, 5).loss_probability)


def test_turns_losses_energy_and_calls():
    assert theory.tmac_parking_lot([4, 6]) == pytest.approx([0.1, 2 / 42])
    assert theory.tmac_rate([0.002] * 3, 0.001, 2) == pytest.approx(1 / 0.0075)
    ways = np.array([1330, 630, 63, 1]) / 2024
    assert theory.bqm_probability([0, 1, 2, 3], 24, 8, 3) == pytest.approx(ways)
    assert theory.bqm_misjudged(24, 8, 3) == pytest.approx(694 / 2024)
    assert theory.bqm_discriminator(8, 4, [0, 1, 2, 3, 4]).tolist() == [1, -1, -3, -5, -7]
    assert np.isnan(theory.bqm_discriminator(8, 0, 0))
    node = {"arrivals_per_s": 0.5, "low_per_s": 0.7, "high_per_s": 1.5, "low_w": 0.49, "high_w": 2.25}
    weights = [0.5, 1, 2, 4, 8, 16]
    assert theory.energy_threshold(**node, packets_per_w=weights).tolist() == [0, 0, 1, 2, 3, 6]
    assert theory.energy_cost(0, **node, packets_per_w=3) == pytest.approx(0.5 + 3 * 2.25 / 3)
    ratings = theory.emodel_rating([0, 0.2])
    assert ratings == pytest.approx([93.2, 85.80], abs=0.05)
    clean = float(ratings[0])
    assert clean - theory.emodel_rating(0, 0.01) == pytest.approx(3.640, abs=1e-3)
    assert clean - theory.emodel_rating(0, 0.01, robustness=4.3) == pytest.approx(17.925, abs=1e-3)


@pytest.mark.parametrize(
    ("attempt", "words", "index"),
    [
        (lambda: theory.mm1([1, 12], 10), "the load is 1.2, but a queue is stable only at a load below 1", 1),
        (lambda: theory.mm1(math.nan, 10), "a rate, time or probability is out of its range", 0),
        (lambda: theory.mm1k(1, 1, 2.5), "room is 2.5: expected a whole number", 0),
        (lambda: theory.dcf([[1, 2], [257, 0]], **DSSS), "each class has at least one station", 2),
        (lambda: theory.dcf(2, **{**DSSS, "cw_max": 30}), "the windows must satisfy", 0),
        (lambda: theory.dcf(2, **{**DSSS, "slot_s": -1}), "slot_s is -1: expected a time in seconds", 0),
        (lambda: theory.swan_equilibrium(4, 1.0, 1e-6, **SWAN), "the target delay must lie between", 0),
        (lambda: theory.dnb_split([1, 1], [[1, 2], [1, 0]]), "costs is 0: expected a number above zero", 1),
        (lambda: theory.bqm_misjudged(5, 8, 6), "the losses at most the window", 0),
        (lambda: theory.bqm_misjudged(5, 0, 1), "every is 0", 0),
        (lambda: theory.emodel_rating(0.1, 1.5), "missing_ratio is 1.5: expected a number from 0 to 1", 0),
        (lambda: theory.energy_cost(1, **NODE, packets_per_w=1), "an arrival rate must be above 0", 0),
        (lambda: theory.tmac_parking_lot(0), "at least one source", 0),
        (lambda: theory.alt_traffic([]), "must be above zero", 0),
    ],
)
def test_wrong_values_are_told_in_the_crates_words(attempt, words, index):
    with pytest.raises(sluice.TheoryError, match=words) as caught:
        attempt()
    assert isinstance(caught.value, sluice.SluiceError) and isinstance(caught.value, ValueError)
    assert caught.value.index == index
    assert pickle.loads(pickle.dumps(caught.value)).index == index


NODE = {"arrivals_per_s": 2, "low_per_s": 1, "high_per_s": 1, "low_w": 1, "high_w": 2}
SHAPES = arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4, min_side=0)


@given(SHAPES, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_results_have_the_broadcast_shape_and_are_those_of_single_calls(shapes, random):
    first, second = (
        np.array([random.uniform(1, 5) for _ in range(math.prod(s))]).reshape(s) for s in shapes.input_shapes
    )
    queue = theory.mm1(first, second + 5)
    assert all(result.shape == shapes.result_shape and result.dtype == np.float64 for result in queue)
    whole = np.broadcast_arrays(first, second + 5)
    for place in itertools.islice(np.ndindex(shapes.result_shape), 5):
        assert queue.mean_wait_s[place] == theory.mm1(whole[0][place], whole[1][place]).mean_wait_s


@given(arrays.array_shapes(max_dims=3, max_side=4), st.integers(0, 100))
@settings(max_examples=50, deadline=None)
def test_groups_are_the_last_axis(shape, total):
    costs = np.random.default_rng(total).uniform(0.5, 5, shape)
    split = theory.dnb_split_whole(total, costs)
    assert split.shape == shape
    assert (split.sum(axis=-1) == total).all()
    rates = theory.tmac_rate(costs)
    assert rates == pytest.approx(1 / costs.sum(axis=-1))


@given(st.lists(st.floats(), min_size=7, max_size=7))
@settings(max_examples=300, deadline=None)
def test_nonsense_is_an_exception_or_a_number(values):
    attempts = [lambda: theory.dcf(values[0], **dict(zip(DSSS, values[1:], strict=True)))]
    attempts += [lambda: theory.mm1(*values[:2]), lambda: theory.mg1(*values[:3])]
    attempts += [lambda: theory.emodel_rating(*values[:2]), lambda: theory.bqm_discriminator(*values[:3])]
    attempts += [lambda: theory.swan_mac_delay(*values[:4], **SWAN), lambda: theory.alt_traffic(values)]
    for attempt in attempts:
        try:
            attempt()
        except sluice.TheoryError:
            continue


def test_every_parameter_and_result_is_described():
    used = set()
    for thing in (getattr(theory, name) for name in theory.__all__):
        names = list(getattr(thing, "_fields", None) or inspect.signature(thing).parameters)
        told = re.findall(r"^(\w+)\n    [A-Z`1].*\.$", inspect.getdoc(thing), flags=re.MULTILINE)
        assert told == names, thing
        used.update(names)
    assert used == set(GLOSSARY)


def test_models_go_by_their_names_and_miss_arguments_by_theirs():
    with pytest.raises(sluice.TheoryError, match="no model has the name mm2"):
        sluice._sluice.theory("mm2", {}, 1)
    with pytest.raises(sluice.TheoryError, match="services_per_s is missing"):
        sluice._sluice.theory("mm1", {"arrivals_per_s": [1.0]}, 1)
    with pytest.raises(TypeError, match="payload_bytes"):
        theory.dcf(2, **{name: value for name, value in DSSS.items() if name != "payload_bytes"})


def test_it_needs_numpy_and_says_so():
    code = "import sys; sys.modules['numpy'] = None; import sluice\ntry: import sluice.theory\n"
    code += "except sluice.MissingPackageError as error: print(error)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert told == "sluice.theory needs numpy: pip install 'sluice-wifi[theory]'\n"
