"""The executor that takes one step after the other in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from mklbench.cores import allowing, n_threads
from mklbench.errors import InputError
from mklbench.experiments.cell import Cell
from mklbench.experiments.execution.agenda import Agenda
from mklbench.experiments.execution.claims import claiming
from mklbench.experiments.execution.steps import Step, take
from mklbench.experiments.progress import Progress
from mklbench.experiments.stages import listening
from mklbench.experiments.store import Store, StoreError


class Inline:
    """Takes steps in this process; a crash of the interpreter ends the run.

    Parameters
    ----------
    rows : str or None, default=None
        Of a Dask scheduler whose workers keep the training samples of the joint method.
    """

    at_once = 1
    _rows: str | None = None  # also of a subclass that has options of its own

    def __init__(self, rows: str | None = None) -> None:
        self._rows = rows

    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        """Raise InputError unless the workers that are to keep samples can, and are of use."""
        if self._rows is None:
            return
        for cell in cells:
            algo = cell.config["algo"]
            if algo.get("method") not in ("auto", "joint"):
                raise InputError(
                    f"executor.rows={self._rows} is for algorithms with algo.method=joint, and "
                    f"algo={algo['name']} "
                    f"{'has method=libsvm' if 'method' in algo else 'has none'}: choose algo=mkl, "
                    "uniform, vskl or mkl_svr with method=joint, or leave executor.rows out."
                )
        with self._workers():
            pass

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        from threadpoolctl import threadpool_limits

        # Timings are those of a worker, but where there is nothing else to be done.
        single = len({step.cell.key for step in steps}) == 1
        threads = n_threads() if single else 1
        with (
            allowing(threads), threadpool_limits(1), self._workers(), claiming(store) as claims
        ):  # fmt: skip
            agenda = Agenda(steps, store, progress, claims)
            while (step := agenda.begin_or_wait()) is not None:
                try:
                    with listening(partial(agenda.advance, step)):
                        take(step, store)
                except StoreError:
                    raise
                except InputError as error:
                    agenda.refuse(step, str(error))
                else:
                    agenda.end(step)
        return agenda.errors

    @contextmanager
    def _workers(self) -> Iterator[None]:
        """Have the workers keep the samples of the joint method, if there are any."""
        if self._rows is None:
            yield
            return
        from mklbench.optim.row_workers import connected, on_dask

        with connected(self._rows, f"executor.rows={self._rows}") as client, on_dask(client):
            yield
