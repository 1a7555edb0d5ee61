"""Means, their intervals, and whether two of them agree."""

import math
import statistics

# Student's t, two-sided 95 %, for each number of degrees of freedom.
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
       2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def interval(values):
    """Mean and half-width of its 95 % interval; the half-width of a single value is not known (nan)."""
    if len(values) < 2:
        return values[0], math.nan
    t = T95[min(len(values) - 1, len(T95)) - 1]
    return statistics.mean(values), t * statistics.stdev(values) / math.sqrt(len(values))


def verdict(a, b):
    """Whether two (mean, half-width) pairs overlap."""
    gap = abs(a[0] - b[0])
    return "unknown" if math.isnan(a[1] + b[1]) else "agree" if gap <= a[1] + b[1] else "differ"


def resolution(a, b):
    """Smallest gap between two (mean, half-width) pairs that `verdict` calls a difference, relative to the larger mean."""
    larger = max(abs(a[0]), abs(b[0]))
    return (a[1] + b[1]) / larger if larger else math.nan


def show(pair):
    """A pair in four significant digits of the mean, the half-width to the same place."""
    mean, half = pair
    places = max(0, 3 - math.floor(math.log10(abs(mean)))) if mean else 4
    return f"{mean:.{places}f}" + ("" if math.isnan(half) else f" ± {half:.{places}f}")
