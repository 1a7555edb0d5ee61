"""Sweeps on a Ray cluster."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from typing import Any

from ._errors import need


def ray(address: str | None = None, *, retries: int = 3, **options: Any) -> concurrent.futures.Executor:
    """Make an executor that runs a sweep's chunks on a Ray cluster.

    Parameters
    ----------
    address
        The cluster: ``"auto"`` for the one that was started here (``ray start``), ``"ray://..."``. Default: the one
        that this process is connected to, or else a new one on this machine.
    retries
        How often a chunk is tried again when its worker dies.
    **options
        Of ``ray.remote``: ``num_cpus``, ``memory``, ``runtime_env``, ...

    Raises
    ------
    MissingPackageError
        If Ray is not installed.
    """
    return RayExecutor(address, retries, options)


class RayExecutor(concurrent.futures.Executor):
    """Runs each call as a Ray task on one processor."""

    def __init__(self, address: str | None, retries: int, options: dict[str, Any]) -> None:
        try:
            import ray as cluster
        except ImportError as error:
            raise need("Ray", "ray", "sluice.ray") from error
        self._ray = cluster
        if not cluster.is_initialized():
            cluster.init(address=address, log_to_driver=False)
        self._options = {"num_cpus": 1, "max_retries": retries, **options}
        self._running: set[Any] = set()

    @property
    def workers(self) -> int:
        """Processors of the cluster."""
        resources: dict[str, float] = self._ray.cluster_resources()  # type: ignore[no-untyped-call]
        return max(1, int(resources.get("CPU", 1)))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        """Start a task."""
        task = self._ray.remote(fn).options(**self._options)
        future: concurrent.futures.Future[Any] = task.remote(*args, **kwargs).future()
        return future
