#!/usr/bin/env python3
"""Write how nodes move as ns-2's `setdest` does: random waypoint without pauses, in its steady state from the start.

A run of random waypoint that starts at uniform places and speeds slows down for minutes, because slow legs last longer,
and crowds towards the centre. So the first leg is drawn from the stationary distribution (W. Navidi and T. Camp,
'Stationary distributions for the random waypoint mobility model', IEEE Transactions on Mobile Computing 3(1), 2004):
both its ends with a density that grows with their distance, the place uniform between them, the speed with a density
of 1/v. The same seed gives the same file everywhere.
"""

import argparse
import math
import random
import sys

# ns-2 refuses a position on the edge of its area.
MARGIN = 0.001


def place(rng, area):
    """A uniform place, in metres, to the millimetre: the file's precision is that of the walk."""
    return tuple(round(rng.uniform(MARGIN, side - MARGIN), 3) for side in area)


def first_leg(rng, area, speeds):
    """Where a node is at time 0, where it is going to, and how fast."""
    while True:
        start, end = place(rng, area), place(rng, area)
        if rng.random() * math.hypot(*area) < math.dist(start, end):
            break
    share = rng.random()
    here = tuple(round(a + share * (b - a), 3) for a, b in zip(start, end, strict=True))
    slowest, fastest = speeds
    return here, end, round(slowest * (fastest / slowest) ** rng.random(), 3)


def walk(rng, area, speeds, duration):
    """A node's first place and its legs until the end: [(time, destination, speed)]."""
    here, there, speed = first_leg(rng, area, speeds)
    legs, time, at = [], 0.0, here
    while time < duration:
        legs.append((time, there, speed))
        time += math.dist(at, there) / speed
        at, there, speed = there, place(rng, area), round(rng.uniform(*speeds), 3)
    return here, legs


def movements(seed, nodes, area, speeds, duration):
    """The file's text."""
    rng = random.Random(seed)
    walks = [walk(rng, area, speeds, duration) for _ in range(nodes)]
    lines = [f"# {nodes} nodes on {area[0]:g} m x {area[1]:g} m, {speeds[0]:g} to {speeds[1]:g} m/s, "
             f"{duration:g} s, seed {seed}"]
    for node, ((x, y), _) in enumerate(walks):
        for axis, value in (("X", x), ("Y", y), ("Z", 0)):
            lines.append(f"$node_({node}) set {axis}_ {value:.3f}")
    legs = sorted((time, node, to, speed) for node, (_, its) in enumerate(walks) for time, to, speed in its)
    for time, node, (x, y), speed in legs:
        lines.append(f'$ns_ at {time:.6f} "$node_({node}) setdest {x:.3f} {y:.3f} {speed:.3f}"')
    return "\n".join(lines) + "\n"


def main():
    """Write one file to standard output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--area", type=float, nargs=2, default=(1500.0, 300.0), metavar=("X", "Y"), help="metres")
    parser.add_argument("--speed", type=float, nargs=2, default=(1.0, 20.0), metavar=("FROM", "TO"), help="m/s")
    parser.add_argument("--duration", type=float, default=110.0, help="seconds")
    options = parser.parse_args()
    if not (0 < options.speed[0] <= options.speed[1] and min(options.area) > 2 * MARGIN and options.nodes > 0):
        parser.error("speeds and areas are greater than zero, and there is at least one node")
    sys.stdout.write(movements(options.seed, options.nodes, tuple(options.area), tuple(options.speed),
                               options.duration))


if __name__ == "__main__":
    main()
