"""The blocks of rows of the joint method on the workers of Dask, for samples on several machines.

The driver sends questions, which are as long as the factors are wide, and adds up the answers. A
block after a question is the result of a task that has the block before it: where a worker is lost,
Dask makes its blocks again on others and asks them the same questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mklbench import extras
from mklbench._version import __version__
from mklbench.errors import InputError
from mklbench.kernels.row_factors import RowFactors
from mklbench.optim.row_blocks import Rows, Terms
from mklbench.optim.row_engines import FactorProblem, added, cut, given, made_by
from mklbench.validation import mapped_file

# Blocks for each thread of a worker: those of a lost one are shared by several others.
_BLOCKS_A_THREAD = 2
# Seconds to wait for a scheduler.
_CONNECT = 10.0


@contextmanager
def on_dask(client: Any) -> Iterator[None]:
    """Have the joint method keep its samples on the workers of Dask, in place of this process.

    What is fitted within this context by ``method="joint"``, or where "auto" takes it, is the same
    to rounding. Features in memory are sent to the workers by way of the scheduler; a memory-mapped
    .npy file is opened by the workers, which have to see it under the same path.

    Parameters
    ----------
    client : distributed.Client or str
        Of a scheduler with workers that have this version of mklbench; or where that is, as in
        "tcp://host:8786", to be connected with as long as the context lasts.

    Raises
    ------
    InputError
        If distributed is not installed, `client` is none, no scheduler answers, it has no workers
        of this version, or these cannot be asked any more.

    Examples
    --------
    >>> with on_dask("tcp://host:8786"):  # doctest: +SKIP
    ...     model = MKL(kernel="feature_gaussians").fit(X, y)
    """
    if isinstance(client, str):
        with connected(client, f"client={client}") as own, on_dask(own):
            yield
        return
    _require_dask("on_dask")
    import dask
    from distributed import Client, KilledWorker

    if not isinstance(client, Client) or client.asynchronous:
        raise InputError(
            f"client={client!r} is not accepted: give the address of a scheduler, as in "
            "tcp://host:8786, or a distributed Client that is not asynchronous."
        )
    _check_workers(client)

    @contextmanager
    def maker(problem: FactorProblem) -> Iterator[Workers]:
        engine = Workers(client, problem)
        try:
            yield engine
        except (OSError, CancelledError, KilledWorker) as error:
            raise InputError(
                f"the blocks on the workers of {client.scheduler.address} cannot be asked any more "
                f"({_in_short(error)}): see that scheduler and workers run, have memory enough and "
                "see the file of the samples, and fit again."
            ) from error
        finally:
            engine.close()

    # Samples are sent with tasks, which Dask warns of, so that they outlive a worker.
    quiet = {"distributed.admin.large-graph-warning-threshold": "1 TB"}
    with dask.config.set(quiet), made_by(maker):
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
        If distributed is not installed, or no scheduler answers at the address.
    """
    _require_dask(option)
    from distributed import Client
    from distributed.comm.addressing import get_address_host_port

    try:
        get_address_host_port(address)  # as a client that fails on it takes long to end
        client = Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{option} does not answer ({_in_short(error)}): start a scheduler there with dask "
            "scheduler, and write the address as it prints it, as in tcp://host:8786."
        ) from error
    with client:
        yield client


class Workers:
    """The blocks of a problem as results of tasks: an `mklbench.optim.row_engines.Engine`.

    Parameters
    ----------
    client : distributed.Client
        Of the scheduler.
    problem : FactorProblem
        What the blocks are made of.
    """

    def __init__(self, client: Any, problem: FactorProblem) -> None:
        self._client, X, n = client, problem.factors.X, problem.factors.n_samples
        threads = client.nthreads()
        slots = [each for each in sorted(threads) for _ in range(_BLOCKS_A_THREAD * threads[each])]
        self._rows = cut(n, min(n, len(slots)))
        without = np.asarray(X[:0])
        kernels = client.submit(_same, (problem.factors.on(without), problem.exact.on(without)))
        options = kernels, problem.dtype, problem.keeps(len(threads)), problem.factors.sparse
        self._made = [
            client.submit(
                _made, sent(X, rows), tuple(problem.terms.of(rows)), *options,
                workers=[worker], allow_other_workers=True, pure=False,
            )
            for rows, worker in zip(self._rows, slots, strict=False)
        ]  # fmt: skip
        self._asked = self._made

    def each(self, question: str, *arguments: Any) -> list[Any]:
        """Return what every block answers, in their order."""
        own = [given(arguments, rows) for rows in self._rows]
        # Another loss begins with the blocks as they were made.
        before = self._made if question == "turned_to" else self._asked
        self._asked = self._client.map(_asked, before, own, question=question, pure=False)
        answers: list[Any] = self._client.gather(self._client.map(_answer, self._asked, pure=False))
        return answers

    def total(self, question: str, *arguments: Any) -> Any:
        """Return the sum of what the blocks answer."""
        return added(iter(self.each(question, *arguments)))

    def close(self) -> None:
        """Leave nothing with the workers."""
        for future in [*self._made, *self._asked]:  # also those that the frames of an error hold
            future.release()


def _require_dask(option: str) -> None:
    if (sentence := extras.missing("dask", option, "distributed")) is not None:
        raise InputError(sentence)


def _check_workers(client: Any) -> None:
    """Raise InputError unless there are workers, all with this version of mklbench."""
    where = client.scheduler.address
    if not client.nthreads():
        raise InputError(f"{where} has no workers: start some with dask worker {where}.")
    try:
        versions = set(client.run(_version).values())
    except Exception as error:  # raised there, of whatever kind
        versions = {f"none that can be imported ({_in_short(error)})"}
    if versions != {__version__}:
        raise InputError(
            f"{where} has workers with other versions of mklbench than {__version__}, which the "
            f"driver has: {', '.join(sorted(versions))}; install the same on both."
        )


def _in_short(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".")


@dataclass(frozen=True)
class InFile:
    """Rows (k, d) of a matrix that are a part of a file, of which slices are read when asked for.

    Attributes
    ----------
    path : str
        The file.
    offset : int
        Where its bytes begin there.
    shape : tuple of int
        k and d.
    dtype : str
        Of the numbers, with the order of bytes.
    """

    path: str
    offset: int
    shape: tuple[int, int]
    dtype: str

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Return some rows.

        Raises
        ------
        OSError
            If the file is not there, or ends early.
        """
        try:
            opened = np.memmap(self.path, np.dtype(self.dtype), "r", self.offset, self.shape)
        except ValueError as error:  # by its name, as a map beyond the end is no fault of a file
            raise OSError(f"{self.path} ends early") from error
        return np.asarray(opened[rows])


def sent(X: NDArray[Any], rows: slice) -> NDArray[Any] | InFile:
    """Return rows of samples X (n, d) as they are sent to a worker.

    They are where they are in a file if `X` is memory-mapped in C order, else the rows themselves.
    """
    own, whole = X[rows], mapped_file(X)
    if whole is None or whole.filename is None or not own.flags.c_contiguous or not own.size:
        return np.ascontiguousarray(own)
    begins = own.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return InFile(str(whole.filename), whole.offset + begins, own.shape, own.dtype.str)


# What the workers do.


def _version() -> str:
    return __version__


def _same(what: Any) -> Any:
    return what


def _made(
    X: NDArray[Any] | InFile,
    terms: tuple[NDArray[np.float64], ...],
    kernels: tuple[RowFactors, RowFactors],
    dtype: type[np.floating],
    kept: bool,
    sparse: NDArray[np.bool_],
) -> tuple[Rows, Any]:
    factors, exact = kernels
    return Rows(factors.on(X), exact.on(X), Terms(*terms), dtype, kept, sparse), None  # type: ignore[arg-type]


def _asked(before: tuple[Rows, Any], arguments: tuple[Any, ...], question: str) -> tuple[Rows, Any]:
    with threadpool_limits(1, user_api="blas"):
        return before[0].asked(question, arguments)


def _answer(asked: tuple[Rows, Any]) -> Any:
    return asked[1]
