"""What this machine offers the program, what is wrong with it, and what slows it down.

Each check looks at one thing and yields what it found (`finding`); none changes anything.
`software` looks at what is installed, `computing` at linear algebra, memory and processors,
`places` at the cache, the mirror, the disks and the claims of a store. May import `experiments`,
`data` and what is below; it is imported by `commands`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mklbench.diagnosis import computing, places, software
from mklbench.diagnosis.finding import Finding
from mklbench.experiments.store import Store

__all__ = ["Finding", "findings"]


def findings(store: Store) -> Iterator[Finding]:
    """Yield what all checks find.

    Parameters
    ----------
    store : Store
        Whose claims and disk are looked at.
    """
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        software.versions,
        software.extra_packages,
        software.libsvm,
        computing.blas,
        computing.openmp,
        software.compiler,
        places.cache,
        places.mirror,
        lambda: places.disks(store),
        computing.free_memory,
        lambda: places.claims(store),
        computing.processors,
    )
    for check in checks:
        yield from check()
