"""Blocks of rows on the workers of Dask, which keep them: the joint method on several machines.

The driver sends questions, which are as long as the factors are wide, and gets their sums. A block
after a question is the result of a task that has the block before it, so that Dask makes again what
a lost worker had, and asks it the same questions. That it need not ask them all, alpha and the
multipliers go through the driver every few iterations, and what follows rests on these.
"""

from __future__ import annotations

import itertools
import logging
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mklbench import extras
from mklbench._version import __version__
from mklbench.errors import InputError
from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.loss_terms import Terms
from mklbench.optim.row_blocks import Rows, Variables
from mklbench.optim.row_engines import Problem, added, cut, given, made_by
from mklbench.optim.row_files import sent

Array = NDArray[np.float64]

# Blocks for each thread of a worker: those of a lost one are shared by several others.
_A_SLOT = 2
# Answers that are added up in one task.
_FAN_IN = 8
# Iterations from one copy of the variables to the next.
_COPIED = 5
# Seconds to wait for a scheduler.
_CONNECT = 10.0
# The question that ends an iteration, and the one that another problem begins with.
_LAST, _FIRST = "advance", "turned_to"


@contextmanager
def on_dask(client: Any) -> Iterator[None]:
    """Have the joint method keep its samples on the workers of Dask, in place of this process.

    What is fitted within this context by ``method="joint"``, or where "auto" takes it, is the same
    to rounding. Features in memory are sent to the workers by way of the scheduler, which keeps
    them for the workers that take the place of lost ones; a memory-mapped .npy file is opened by
    the workers, which have to see it under the same path.

    Parameters
    ----------
    client : distributed.Client or str
        Of a scheduler with workers that have this version of mklbench; or where that is, as in
        "tcp://host:8786", to be connected with as long as the context lasts.

    Raises
    ------
    InputError
        If distributed is not installed, `client` is none, no scheduler answers, or it has no
        workers of this version.

    Examples
    --------
    >>> with on_dask("tcp://host:8786"):  # doctest: +SKIP
    ...     model = MKL(kernel="feature_gaussians").fit(X, y)
    """
    if (sentence := extras.missing("dask", "on_dask", "distributed")) is not None:
        raise InputError(sentence)
    from distributed import Client

    if isinstance(client, str):
        with connected(client, f"client={client}") as own, on_dask(own):
            yield
        return
    if not isinstance(client, Client) or client.asynchronous:
        raise InputError(
            f"client={client!r} is not accepted: give the address of a scheduler, as in "
            "tcp://host:8786, or a distributed Client that is not asynchronous."
        )
    _check_workers(client)

    @contextmanager
    def maker(problem: Problem) -> Iterator[Workers]:
        engine = Workers(client, problem)
        try:
            with _in_a_sentence(client):
                yield engine
        finally:
            engine.close()

    with made_by(maker):
        yield


@contextmanager
def connected(address: str, option: str) -> Iterator[Any]:
    """Give a client of a scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, as in "tcp://host:8786".
    option : str
        What gave the address, as the user typed it.

    Raises
    ------
    InputError
        If distributed is not installed, what is given is no address, or no scheduler answers.
    """
    if (sentence := extras.missing("dask", option, "distributed")) is not None:
        raise InputError(sentence)
    from distributed import Client
    from distributed.comm.addressing import get_address_host_port

    try:  # as a client that fails on it takes long to end
        get_address_host_port(address)
    except ValueError as error:
        raise InputError(
            f"{option} is no address of a scheduler ({_in_short(error)}): write it as in "
            "tcp://host:8786, which is what dask scheduler prints."
        ) from error
    # Its tracebacks on a scheduler that is away say less than the sentence does.
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{option} does not answer ({_in_short(error)}): start a scheduler there, with "
            "dask scheduler, and workers."
        ) from error
    finally:
        logger.setLevel(level)
    with client:
        yield client


class Workers:
    """The blocks of a problem as results of tasks.

    Parameters
    ----------
    client : distributed.Client
        Of the scheduler.
    problem : Problem
        What the blocks are made of.
    """

    def __init__(self, client: Any, problem: Problem) -> None:
        self._client, self._name = client, f"mklbench-{uuid4().hex[:8]}"
        self._numbers, self._futures = itertools.count(), WeakSet[Any]()
        threads = _check_workers(client)
        n = problem.factors.n_samples
        self._rows = cut(n, min(n, _A_SLOT * sum(threads.values())))
        self._iterations = 0
        empty = np.asarray(problem.factors.X[:0])
        both = problem.factors.on(empty), problem.exact.on(empty)
        kernels = self._submit(_same, both)
        made = ((sent(problem.factors.X, rows), *problem.terms.of(rows)) for rows in self._rows)
        kept = problem.keeps(len(threads))
        slots = [worker for worker in threads for _ in range(_A_SLOT * threads[worker])]
        places = slots[: len(self._rows)]
        options = {"dtype": problem.dtype, "kept": kept, "version": __version__}
        with _large_graphs_are_meant():
            self._made = self._each_on(places, _made, list(made), kernels=kernels, **options)
        self._asked = self._made

    def each(self, question: str, *arguments: Any) -> list[Any]:
        """Return what every block answers, in their order."""
        answers: list[Any] = self._client.gather(self._ask(question, arguments))
        return answers

    def total(self, question: str, *arguments: Any) -> Any:
        """Return the sum of what the blocks answer, added up by the workers."""
        parts = self._ask(question, arguments)
        while len(parts) > 1:
            groups = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
            parts = [self._submit(_added, each) for each in groups]
        return self._client.gather(parts[0])

    def close(self) -> None:
        """Leave nothing with the workers."""
        for future in list(self._futures):  # also those that the frames of an error hold
            future.release()

    def _ask(self, question: str, arguments: Sequence[Any]) -> list[Any]:
        own = [given(arguments, rows) for rows in self._rows]
        before = self._made if question == _FIRST else self._asked
        with _large_graphs_are_meant():
            self._asked = self._map(_asked, before, own, question=question, version=__version__)
        if question == _FIRST:  # what the next copies are joined to has the loss of this problem
            self._made = self._asked
        answers = self._map(_answer, self._asked)
        if question == _LAST:
            self._iterations += 1
            if self._iterations % _COPIED == 0:
                self._copy()
        return answers

    def _copy(self) -> None:
        """Have all that follows rest on variables that no worker can lose."""
        variables = self._client.gather(self._map(_variables, self._asked))
        with _large_graphs_are_meant():
            self._asked = self._map(_resumed, self._made, variables)

    def _each_on(
        self, workers: Sequence[str], function: Any, blocks: list[Any], **options: Any
    ) -> list[Any]:
        """Map with each block on the worker that is named, if that is there."""
        return [
            self._submit(function, block, **options, workers=[worker], allow_other_workers=True)
            for worker, block in zip(workers, blocks, strict=True)
        ]

    def _submit(self, function: Any, *arguments: Any, **options: Any) -> Any:
        future = self._client.submit(function, *arguments, **options, key=self._key(function))
        self._futures.add(future)
        return future

    def _map(self, function: Any, *several: list[Any], **options: Any) -> list[Any]:
        keys = [self._key(function) for _ in several[0]]
        futures: list[Any] = self._client.map(function, *several, **options, key=keys)
        self._futures.update(futures)
        return futures

    def _key(self, function: Any) -> str:
        return f"{function.__name__.strip('_')}-{self._name}-{next(self._numbers)}"


def _check_workers(client: Any) -> dict[str, int]:
    """Return the threads of each worker; raise InputError unless all can keep blocks."""
    where = client.scheduler.address
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        raise InputError(f"{where} has no workers: start some with dask worker {where}.")
    here = platform.python_version()
    for address, worker in client.get_versions()["workers"].items():
        there = worker["host"]["python"]
        if there.split(".")[:2] != here.split(".")[:2]:
            raise InputError(
                f"{where} has Python {there} on {address}, and here it is {here}: start the "
                "workers with the same version."
            )
    try:
        client.run(_check_version, __version__)
    except InputError:
        raise
    except Exception as error:  # raised there, of whatever kind
        raise InputError(
            f"{where} has workers that cannot import mklbench ({_in_short(error)}): install this "
            "version of it where they run."
        ) from error
    return {address: worker["nthreads"] for address, worker in sorted(workers.items())}


def _check_version(version: str) -> None:
    """Raise InputError unless this machine has the version of the driver."""
    if version != __version__:
        raise InputError(
            f"the worker on {platform.node()} has mklbench {__version__}, and the driver has "
            f"{version}: install the same version on both."
        )


@contextmanager
def _in_a_sentence(client: Any) -> Iterator[None]:
    """Say what is wrong with the workers in one sentence."""
    from distributed import KilledWorker

    where = client.scheduler.address
    try:
        yield
    except KilledWorker as error:
        raise InputError(
            f"workers of {where} ended again and again while they had a block of rows: start more "
            "workers, or workers with more memory."
        ) from error
    except (OSError, CancelledError) as error:
        raise InputError(
            f"the blocks on the workers of {where} cannot be asked any more "
            f"({_in_short(error)}): see that scheduler and workers run and see the file of the "
            "samples, and fit again."
        ) from error


@contextmanager
def _large_graphs_are_meant() -> Iterator[None]:
    """Spare the user Dask's advice not to send samples with tasks: so they outlive a worker."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        yield


def _in_short(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")


# What the workers do.


def _made(
    source: tuple[Any, Array, Array, Array],
    kernels: tuple[RowFactors, RowFactors],
    dtype: type[np.floating],
    kept: bool,
    version: str,
) -> tuple[Rows, Any]:
    _check_version(version)
    X, *terms = source
    factors, exact = kernels
    return Rows(factors.on(X), exact.on(X), Terms(*terms), dtype, kept), None


def _asked(
    before: tuple[Rows, Any], arguments: tuple[Any, ...], question: str, version: str
) -> tuple[Rows, Any]:
    _check_version(version)
    with threadpool_limits(1, user_api="blas"):
        return before[0].asked(question, arguments)


def _answer(asked: tuple[Rows, Any]) -> Any:
    return asked[1]


def _added(answers: Sequence[Any]) -> Any:
    return added(iter(answers))


def _variables(asked: tuple[Rows, Any]) -> Variables:
    return asked[0].variables()


def _resumed(made: tuple[Rows, Any], variables: Variables) -> tuple[Rows, Any]:
    return made[0].asked("resume", (variables,))


def _same(what: Any) -> Any:
    return what
