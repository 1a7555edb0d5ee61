"""How a function's signature becomes a call of the compiled model of the same name, and its documentation complete."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from .. import _sluice
from .._errors import need
from ._glossary import GLOSSARY

try:
    import numpy as np
except ImportError as error:
    raise need("numpy", "theory", "sluice.theory") from error

if TYPE_CHECKING:
    import numpy.typing as npt

#: Numbers that go in: one, a sequence or an array.
Numbers: TypeAlias = "npt.ArrayLike"
#: Numbers that go in, one for each group (stations, categories, queues, hops): the groups are along the last axis.
Groups: TypeAlias = "npt.ArrayLike"
#: Numbers that come out.
Array: TypeAlias = "npt.NDArray[np.float64]"

Function = TypeVar("Function", bound=Callable[..., Any])


def model(*, by_group: bool = False, **texts: str) -> Callable[[Function], Function]:
    """Return a function its body, and describe its parameters and results: by ``texts``, else by the glossary.

    Arguments go to the model by name, those of a tuple as ``name[0]`` and so on; an optional one that is None stays
    away. A model with parameters of type `Groups` takes the last axis together; ``by_group``: with results for each.
    """

    def derived(function: Function) -> Function:
        signature = inspect.signature(function)
        types = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        results = function.__globals__[signature.return_annotation]
        fields = getattr(results, "_fields", ())
        has_groups = "Groups" in types.values()
        _describe(function, "Parameters", types, GLOSSARY | texts)
        if fields:
            _describe(results, "Attributes", fields, GLOSSARY)

        @functools.wraps(function)
        def solve(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given: dict[str, Any] = {}
            for name, value in bound.arguments.items():
                if value is not None and types[name].startswith("tuple"):
                    given |= {f"{name}[{place}]": part for place, part in enumerate(value)}
                elif value is not None or not types[name].endswith("None"):
                    given[name] = value
            arrays = [np.asarray(value, dtype=np.float64) for value in given.values()]
            if has_groups:
                arrays = [
                    np.atleast_1d(array) if types[name] == "Groups" else array[..., np.newaxis]
                    for name, array in zip(given, arrays, strict=True)
                ]
            arrays = list(np.broadcast_arrays(*arrays))
            shape = arrays[0].shape
            rows = shape[:-1] if has_groups else shape
            columns = {name: array.ravel().tolist() for name, array in zip(given, arrays, strict=True)}
            solved = _sluice.theory(function.__name__, columns, math.prod(rows))
            array = np.asarray(solved, dtype=np.float64).reshape(*(shape if by_group else rows), len(fields) or 1)
            parts = [array[..., place].copy() for place in range(array.shape[-1])]
            return results(*parts) if fields else parts[0]

        return cast(Function, solve)

    return derived


def _describe(thing: Any, section: str, names: Iterable[str], texts: dict[str, str]) -> None:
    told = inspect.cleandoc(thing.__doc__ or "").partition(f"\n\n{section}\n")[0]
    entries = "\n".join(f"{name}\n    {texts[name]}" for name in names)
    thing.__doc__ = f"{told}\n\n{section}\n{'-' * len(section)}\n{entries}"
