"""The executor that takes one step after the other in this process."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Takes steps in this process; a crash of the interpreter ends the run."""

    at_once = 1

    def prepare(self, cells: Sequence[Cell], store: Store) -> None:
        """Do nothing: all there is to be had is on this machine."""

    def run(self, steps: Sequence[Step], store: Store, progress: Progress) -> dict[str, str]:
        """Take `steps` as `mklbench.experiments.execution.plan.Executor` says."""
        from threadpoolctl import threadpool_limits

        # Timings are those of a worker, but where there is nothing else to be done.
        single = len({step.cell.key for step in steps}) == 1
        threads = n_threads() if single else 1
        with allowing(threads), threadpool_limits(1), claiming(store) as claims:
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
