#!/usr/bin/env python3
"""What can be checked of the comparison with other simulators without them."""

import math
import pathlib
import random
import re
import statistics
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))

import compare  # noqa: E402
import experiments  # noqa: E402
import movement  # noqa: E402
import networks  # noqa: E402
import simulators  # noqa: E402
import statistic  # noqa: E402


class Movement(unittest.TestCase):
    """The files that all simulators read."""

    def test_the_same_seed_gives_the_same_file(self):
        texts = [movement.movements(seed, 5, (1500, 300), (1, 20), 60) for seed in (1, 1, 2)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_nodes_are_as_fast_at_the_start_as_in_the_long_run(self):
        # The harmonic mean of a speed that is uniform on a leg: (20 - 1) / ln 20.
        rng = random.Random(1)
        speeds = [movement.first_leg(rng, (1500, 300), (1, 20))[2] for _ in range(20000)]
        error = 5 * statistics.stdev(speeds) / math.sqrt(len(speeds))
        self.assertAlmostEqual(statistics.mean(speeds), 19 / math.log(20), delta=error)

    def test_a_leg_begins_where_the_last_one_ends(self):
        rng = random.Random(1)
        here, legs = movement.walk(rng, (100, 100), (1, 20), 1000)
        for (start, place, speed), (end, _, _) in zip(legs, legs[1:], strict=False):
            self.assertAlmostEqual(end - start, math.dist(here, place) / speed, places=9)
            here = place


class Verdicts(unittest.TestCase):
    """How rows are ruled on."""

    def test_an_interval_is_students(self):
        mean, half = statistic.interval([1.0, 2.0, 3.0])
        self.assertAlmostEqual(mean, 2.0)
        self.assertAlmostEqual(half, 4.303 / math.sqrt(3))

    def test_intervals_agree_that_overlap(self):
        self.assertEqual(statistic.verdict((1.0, 0.2), (1.3, 0.1)), "agree")
        self.assertEqual(statistic.verdict((1.0, 0.1), (1.3, 0.1)), "differ")
        self.assertEqual(statistic.verdict((1.0, math.nan), (9.0, 0.1)), "unknown")

    def test_an_explanation_covers_no_larger_difference_than_it_says(self):
        entry = {"peer": "ns-2", "networks": ["cell *"], "measures": ["m"], "most": 0.1, "section": "s"}
        row = {"peer": "ns-2", "network": "cell n=5", "measure": "m", "theirs": (1.0, 0.0)}
        self.assertEqual(compare.explanation(row | {"sluice": (1.05, 0.0)}, [entry]), "s")
        self.assertIsNone(compare.explanation(row | {"sluice": (1.2, 0.0)}, [entry]))
        self.assertIsNone(compare.explanation(row | {"sluice": (1.05, 0.0), "peer": "ns-3"}, [entry]))


class Networks(unittest.TestCase):
    """The table of networks and the entries that speak of it."""

    def test_every_network_has_its_scenario(self):
        for case in networks.CASES:
            self.assertTrue(simulators.scenario(case).exists(), case.name)

    def test_the_makefile_runs_every_network(self):
        run = re.findall(r"--only ([a-z])\b", (ROOT / "Makefile").read_text())
        self.assertEqual(sorted(run), sorted({case.network for case in networks.CASES}))

    def test_every_explanation_names_networks_measures_and_a_section_that_exist(self):
        labels = {label for case in networks.CASES for label in case.measures}
        for entry in compare.load_known_differences():
            self.assertLessEqual(set(entry["measures"]), labels)
            for name in entry["networks"]:
                self.assertTrue(compare.chosen([name]), name)

    def test_every_experiment_changes_a_network_that_its_peer_has_and_names_a_section(self):
        text = compare.VALIDATION.read_text()
        for section, pattern, peer, changes in experiments.EXPERIMENTS:
            cases = [case for case in compare.chosen([pattern]) if peer in case.peers()]
            self.assertTrue(cases and changes, pattern)
            self.assertRegex(text, f"(?m)^#+ {section}$")


if __name__ == "__main__":
    unittest.main()
