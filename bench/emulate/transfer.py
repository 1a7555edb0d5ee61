#!/usr/bin/env python3
"""CPU time of a transfer of 20 Mb/s through the C library for 100 simulated seconds: transfer.py LIBRARY [PRESET...].

`make library` makes the library: target/library/lib/libsluice.so. One process with one thread pushes datagrams of 1400 B at a
preset's server and polls what arrives at its other real node. CPU time includes opening the preset, the preset's own traffic and
Python's part. The exit status is 1 if `home` takes ten seconds or more. Presets whose own traffic fills the air take longer.
"""

import ctypes
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "crates/air/tests"))

import call  # noqa: E402

SECONDS, RATE, PAYLOAD = 100, 20_000_000, 1400
MOST = 10.0
PRESETS = ("home", "home-busy", "neighbour", "walk-away")


def transfer(air, preset):
    """CPU time, datagrams sent and received."""
    begin = time.process_time()
    one = air.sluice_open(air.sluice_version(), preset.encode(), 1, f"duration = {SECONDS} s".encode())
    if not one:
        sys.exit(f"transfer: {air.sluice_error().decode()}")
    client, server = air.sluice_node(one, 0), air.sluice_node(one, 1)
    payload, got = bytes(PAYLOAD), call.Delivery()
    gap = 8 * PAYLOAD * 10**9 // RATE
    sent = received = 0
    for now in range(0, SECONDS * 10**9, gap):
        while (arrived := air.sluice_poll(one, now, ctypes.byref(got))) == 1:
            received += 1
        if arrived < 0 or air.sluice_send(one, now, server, client, payload, PAYLOAD, 0) < 0:
            sys.exit(f"transfer: {air.sluice_error().decode()}")
        sent += 1
    air.sluice_close(one)
    return time.process_time() - begin, sent, received


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    air = call.library(sys.argv[1])
    is_slow = False
    for preset in sys.argv[2:] or PRESETS:
        taken, sent, received = transfer(air, preset)
        print(f"{preset}: {taken:.1f} s of CPU for {SECONDS} s, {received} of {sent} datagrams arrived", flush=True)
        is_slow |= preset == "home" and taken >= MOST
    return is_slow


if __name__ == "__main__":
    sys.exit(main())
