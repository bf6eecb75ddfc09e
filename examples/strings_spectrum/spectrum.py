"""Spectrum kernels on strings, of several lengths, beside a Gaussian on a number.

The k-spectrum kernel of two strings is the inner product of their counts of substrings of length k
(Leslie, Eskin & Noble 2002, The spectrum kernel).
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from mklbench import MKL
from mklbench.kernels import Gaussian, Linear


def spectrum_kernel(X, Z, k):
    """Return the k-spectrum kernel (n, m), normalised, of strings in arrays (n, 1) and (m, 1)."""
    strings = [row[0] for row in X], [row[0] for row in Z]
    counting = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False)
    counting.fit([*strings[0], *strings[1]])
    counts = [counting.transform(each).astype(float) for each in strings]
    lengths = [np.sqrt(np.asarray(each.multiply(each).sum(axis=1)).ravel()) for each in counts]
    return (counts[0] @ counts[1].T).toarray() / np.outer(*lengths)


def sequences(n=200, seed=0):
    """Return sequences of DNA and their temperature; the ill ones hold TATAAT or are warm."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "dna": ["".join(rng.choice(list("ACGT"), 40)) for _ in range(n)],
            "temperature": rng.normal(37.0, 1.0, n),
        }
    )
    ill = rng.uniform(size=n) < 0.5
    X.loc[ill, "dna"] = X.loc[ill, "dna"].str[:17] + "TATAAT" + X.loc[ill, "dna"].str[23:]
    return X, np.where(ill | (X["temperature"] > 38.5), "ill", "well")


def models():
    """Return the same kernels in two ways: as functions, and as transformers before linear ones."""
    lengths = (1, 3, 5)
    by_functions = [
        *((f"{k}-mers", partial(spectrum_kernel, k=k), ["dna"]) for k in lengths),
        ("temperature", Gaussian(), ["temperature"]),
    ]
    counting = [
        CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False) for k in lengths
    ]
    by_transformers = [
        *(
            (f"{k}-mers", Linear(), "dna", make_pipeline(vectoriser, Normalizer()))
            for k, vectoriser in zip(lengths, counting, strict=True)
        ),
        ("temperature", Gaussian(), ["temperature"]),
    ]
    return MKL(C=10.0, kernel=by_functions), MKL(C=10.0, kernel=by_transformers)


def main():
    X, y = sequences()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    for name, model in zip(("functions", "transformers"), models(), strict=True):
        model.fit(X_train, y_train)
        print(f"{name}: accuracy {model.score(X_test, y_test):.2f}")
        print(model.kernel_weights().round(3).to_string())


if __name__ == "__main__":
    main()
