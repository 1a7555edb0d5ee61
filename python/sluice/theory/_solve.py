"""How arrays become the rows that the compiled part solves, and its answers arrays again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from .. import _sluice
from .._errors import need

try:
    import numpy as np
except ImportError as error:
    raise need("numpy", "theory", "sluice.theory") from error

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Array", "Numbers", "by_group", "each", "over_groups", "same_for_all"]

#: Numbers that go in: one, a sequence or an array.
Numbers: TypeAlias = "npt.ArrayLike"
#: Numbers that come out.
Array: TypeAlias = "npt.NDArray[np.float64]"


def each(model: str, results: int, *arguments: Numbers) -> list[Array]:
    """Solve a model for every element; the results have the shape of all arguments together."""
    columns = np.broadcast_arrays(*(np.asarray(argument, dtype=np.float64) for argument in arguments))
    shape = columns[0].shape
    solved = _sluice.theory(model, [column.ravel().tolist() for column in columns], math.prod(shape))
    return _apart(solved, (*shape, results))


def over_groups(model: str, results: int, *arguments: Numbers) -> list[Array]:
    """Solve a model that takes the last axis together; the results do not have that axis."""
    rows, shape = _grouped(model, arguments)
    return _apart(rows, (*shape[:-1], results))


def by_group(model: str, results: int, *arguments: Numbers) -> list[Array]:
    """Solve a model that takes the last axis together and has results for each of its elements."""
    rows, shape = _grouped(model, arguments)
    array = np.asarray(rows, dtype=np.float64).reshape(*shape[:-1], results, shape[-1])
    return [array[..., number, :].copy() for number in range(results)]


def same_for_all(argument: Numbers) -> Array:
    """Give an argument that has no axis of groups one, over which it is broadcast."""
    return np.asarray(argument, dtype=np.float64)[..., np.newaxis]


def _grouped(model: str, arguments: tuple[Numbers, ...]) -> tuple[list[list[float]], tuple[int, ...]]:
    columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in arguments))
    shape = columns[0].shape
    return _sluice.theory(model, [column.ravel().tolist() for column in columns], math.prod(shape[:-1])), shape


def _apart(rows: list[list[float]], shape: tuple[int, ...]) -> list[Array]:
    array = np.asarray(rows, dtype=np.float64).reshape(shape)
    return [array[..., number].copy() for number in range(shape[-1])]
