"""Values as users have them: numbers of numpy, paths and arrays in the types that the compiled part takes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

from ._errors import SluiceError

__all__ = ["checked_seed", "dumps", "listed", "seeds_of", "text_of", "whole"]


def dumps(value: object) -> str:
    """Write a value as JSON: numbers and arrays of numpy as Python's, paths as text."""
    return json.dumps(value, default=_plain, allow_nan=False)


def _plain(value: Any) -> object:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, and what follows them
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__}")


def text_of(value: object) -> str | None:
    """Return the text if a value is text."""
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    return str(value) if isinstance(value, str) else None


def listed(values: object) -> list[Any] | None:
    """Return the elements of a list, an array or what else is iterated over; nothing of text, a path or a number."""
    if text_of(values) is not None:
        return None
    try:
        return [*values]  # type: ignore[misc]
    except TypeError:
        return None


def whole(what: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number, of numpy too.

    Raises
    ------
    SluiceError
        If the value is no whole number, or out of range.
    """
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        bounds = f"{least} or more" if most is None else f"from {least} to {most}"
        raise SluiceError(f"{what}: expected a whole number, {bounds}, and not {value!r}")
    return number


def checked_seed(seed: object) -> int:
    """Refuse a value that is not a seed."""
    return whole("seed", seed, 0, 2**64 - 1)


def seeds_of(seeds: int | Iterable[int]) -> list[int]:
    """Return the seeds 1, 2, ... of a number of seeds, or those of a list."""
    given = listed(seeds)
    if given is None:
        return list(range(1, whole("seeds", seeds, 1) + 1))
    numbers = [checked_seed(seed) for seed in given]
    if not numbers or len(set(numbers)) != len(numbers):
        raise SluiceError(f"seeds: expected a number of seeds or different whole numbers, not {seeds!r}")
    return numbers
