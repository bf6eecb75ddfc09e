"""Visual words: a codebook of local descriptors, and how often each of its words occurs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sample(rows: Array, n_rows: int, generator: np.random.Generator) -> Array:
    """Return at most `n_rows` of `rows` (k, d), drawn at random and in their order."""
    return rows[np.sort(generator.permutation(len(rows))[:n_rows])]


def k_means(rows: Array, n_words: int) -> Array:
    """Return at most `n_words` centres (w, d) of `rows` (k, d), always the same ones."""
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    n_found = min(n_words, len(np.unique(rows, axis=0)))
    model: Any = MiniBatchKMeans(n_found, random_state=0, n_init=1, batch_size=4096)
    with threadpool_limits(1):  # on a busy machine more threads are many times slower
        centres: Array = model.fit(rows).cluster_centers_
    return centres


def counts(rows: Array, words: Array, n_bins: int) -> Array:
    """Return how many of `rows` (k, d) are nearest to each of `words` (w, d), in `n_bins` >= w."""
    distances = (words**2).sum(axis=1) - 2.0 * rows @ words.T
    return np.bincount(distances.argmin(axis=1), minlength=n_bins).astype(np.float64)
