"""What kernels need of memory, told before they are made.

Every bank and family has a class method ``needs``, from the numbers of samples and kernels to a
`Memory`, and every builder an attribute ``memory`` that answers for its options
(`mklbench.kernels.contract`): a function of the training samples' `Shape` and these options, or a
method. Wherever one is asked with options that its builder would refuse, it is for the builder to
say so.

The estimates are those of the code as it is, temporaries included; ``benchmarks/peaks.py`` measures
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

# Bytes of a number.
NUMBER = 8.0


@dataclass(frozen=True)
class Shape:
    """The size of training samples.

    Attributes
    ----------
    n : int
        Number of samples.
    d : int
        Number of features.
    n_views : int
        Number of views the features come in.
    n_grams : int
        Number of matrices, where the samples are a stack of Gram matrices (M, n, n).
    """

    n: int
    d: int = 1
    n_views: int = 1
    n_grams: int = 1

    @classmethod
    def of(cls, X: ArrayLike) -> Shape:
        """Return that of samples (n, d), of row numbers (n,) or of a stack (M, n, n)."""
        shape = np.shape(X)
        if len(shape) == 3:
            return cls(shape[1], shape[2], n_grams=shape[0])
        return cls(shape[0], *shape[1:2])

    def with_samples(self, n: int) -> Shape:
        """Return that of `n` such samples."""
        return replace(self, n=n)


@dataclass(frozen=True)
class Memory:
    """The bytes that a bank or a family takes.

    Attributes
    ----------
    n_kernels : int or None
        M; None where that is not known before the kernels are made.
    kept : float
        What it keeps.
    building : float
        Most while it is made, what is kept included.
    combining : float
        Temporaries while a Gram matrix is formed, that matrix not included.
    restricting : float
        Temporaries while the bank on these samples is taken from one on more.
    active : float
        What it keeps as well, at most, once sparse combinations have been asked for.
    is_family : bool
        Whether it is a family.
    rank : int or None
        The number of columns that its factors have which leave out 1e-5 of each kernel, about;
        None where there are no factors in blocks of rows (`Bank.row_factors`).
    streamed : float
        What it keeps where only these are asked for.
    """

    n_kernels: int | None = None
    kept: float = 0.0
    building: float = 0.0
    combining: float = 0.0
    restricting: float = 0.0
    active: float = 0.0
    is_family: bool = False
    rank: int | None = None
    streamed: float = 0.0


def gram_bytes(n: int, count: float = 1.0) -> float:
    """Return the bytes of so many matrices (n, n)."""
    return NUMBER * count * float(n) ** 2
