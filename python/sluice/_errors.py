"""The package's exceptions."""

from __future__ import annotations


class SluiceError(Exception):
    """Base of all exceptions that Sluice raises by itself."""


class ScenarioError(SluiceError, ValueError):
    """A scenario that cannot be run, or a changed key that does not fit.

    Attributes
    ----------
    reason : str
        The fault, without its place.
    file : str or None
        Name of the file or of the text; None if a changed key has the fault.
    line, column : int or None
        Place of the fault in the file, both from 1.
    change : str or None
        The changed key with its value, if it has the fault: ``queue.limit=-1``.
    nearest : str or None
        The nearest right name, if there is one.
    """

    def __init__(
        self,
        message: str,
        reason: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        change: str | None = None,
        nearest: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason or message
        self.file = file
        self.line = line
        self.column = column
        self.change = change
        self.nearest = nearest

    def __reduce__(self) -> tuple[object, ...]:
        """Exceptions travel between processes."""
        parts = (self.args[0], self.reason, self.file, self.line, self.column, self.change, self.nearest)
        return (type(self), parts)


class RunError(SluiceError, RuntimeError):
    """A run that ended early."""


class StoreError(SluiceError, RuntimeError):
    """Results that cannot be kept, or that do not belong together."""


class ReplayError(SluiceError, ValueError):
    """A recording that cannot be read or replayed, or settings of its controller that do not fit."""


class ReplayWarning(UserWarning):
    """A recording that ends in the middle of a line, which is left out."""


class TheoryError(SluiceError, ValueError):
    """Arguments for which a model of `sluice.theory` has no answer.

    Attributes
    ----------
    index : int
        Index of the first invalid element of the arguments, in the order of ``numpy.ravel``; for a model of groups,
        index of the row of groups.
    """

    def __init__(self, message: str, index: int = 0) -> None:
        super().__init__(message)
        self.index = index

    def __reduce__(self) -> tuple[object, ...]:
        """Exceptions travel between processes."""
        return (type(self), (self.args[0], self.index))


class MissingPackageError(SluiceError, ImportError):
    """An optional package that is not installed; the message says which and how to install it."""


def need(package: str, extra: str, what: str) -> MissingPackageError:
    """Say which optional package is missing, for what, and how to install it."""
    return MissingPackageError(f"{what} needs {package}: pip install 'sluice-wifi[{extra}]'")
