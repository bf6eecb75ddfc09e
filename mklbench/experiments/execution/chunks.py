"""Steps packed into jobs: of about the same length, the longest steps first.

A job of a cluster takes seconds to start and is best some minutes long; a step takes between ten
milliseconds and half an hour. Towards the end of the work the jobs become shorter, so that the
slots of the cluster run empty at about the same time (guided self-scheduling, Polychronopoulos and
Kuck 1987).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mklbench.experiments.execution.steps import Step

GIB = 2**30

# The start of a job shall be at most this share of its length, if there is work enough.
_START_SHARE = 0.25
# What two processes of Python and the libraries take beside the arrays of a step.
_INTERPRETERS = 0.75 * GIB
# What the scheduler is asked for beyond the estimated time: other processors are slower, and
# recorded seconds are means.
_TIMES, _MINUTES = 2.0, 3.0


@dataclass(frozen=True)
class Demand:
    """What a step needs.

    Attributes
    ----------
    step : Step
        The step.
    seconds : float
        How long it is expected to take.
    bytes : float
        Memory of its arrays.
    times_memory, patience : float
        What the memory and the time limit that are asked for are multiplied by: 1, and more after
        it has run out of them.
    """

    step: Step
    seconds: float
    bytes: float
    times_memory: float = 1.0
    patience: float = 1.0


@dataclass(frozen=True)
class Chunk:
    """Steps that one job takes, one after the other.

    Attributes
    ----------
    steps : tuple of Step
        In the order in which they are taken.
    seconds : float
        How long all of them are expected to take.
    memory : int
        GiB to be asked for.
    minutes : int
        Time limit to be asked for.
    """

    steps: tuple[Step, ...]
    seconds: float
    memory: int
    minutes: int


def pack(
    demands: Iterable[Demand],
    slots: int,
    target: float,
    start: float = 0.0,
    least_memory: float = 0.0,
    jobs_to_come: int = 2,
) -> Iterator[Chunk]:
    """Yield chunks of the steps, the longest first, until there are none left.

    Steps that need a similar amount of memory (to a power of two) come together.

    Parameters
    ----------
    demands : iterable of Demand
        The steps, all of which can be begun.
    slots : int
        Jobs that may run at the same time.
    target : float
        Seconds that a job is to take; a longer step has a job of its own.
    start : float, default=0.0
        Seconds that a job takes to start.
    least_memory : float, default=0.0
        GiB that each job asks for at least.
    jobs_to_come : int, default=2
        How many more jobs a slot shall have after the one that is packed: the more, the better
        slots run empty together, and the more often a job has to be started.
    """
    classes: dict[int, list[Demand]] = defaultdict(list)
    for demand in demands:
        classes[_memory(demand, least_memory)].append(demand)
    left = math.fsum(demand.seconds for listed in classes.values() for demand in listed)
    least = min(start / _START_SHARE, target)
    for listed in classes.values():
        listed.sort(key=lambda demand: -demand.seconds)
    while classes:
        # Of the kinds of jobs, that with the longest step, as it ends last.
        memory = max(classes, key=lambda gib: classes[gib][0].seconds)
        listed = classes[memory]
        length = min(max(left / (jobs_to_come * slots), least), target)
        n_taken, seconds = _fill(listed, length)
        taken = listed[:n_taken]
        classes[memory] = listed[n_taken:]
        if not classes[memory]:
            del classes[memory]
        left -= seconds
        limit = math.fsum(demand.seconds * demand.patience for demand in taken)
        patience = max(demand.patience for demand in taken)
        minutes = math.ceil(_TIMES * limit / 60.0 + _MINUTES * patience)
        yield Chunk(tuple(demand.step for demand in taken), seconds, memory, minutes)


def _fill(listed: list[Demand], length: float) -> tuple[int, float]:
    """Return how many of the first demands fill a job, and their seconds; at least one."""
    seconds = 0.0
    for number, demand in enumerate(listed):
        if number and seconds + demand.seconds > length:
            return number, seconds
        seconds += demand.seconds
    return len(listed), seconds


def _memory(demand: Demand, least: float) -> int:
    """Return the GiB that a job has to ask for, so that few different amounts are asked for."""
    gib = max((demand.bytes + _INTERPRETERS) / GIB, least, 1.0)
    return 2 ** math.ceil(math.log2(gib * demand.times_memory))
