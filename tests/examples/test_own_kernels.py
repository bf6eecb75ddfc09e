"""The examples of strings and graphs print what their READMEs say, and compute what they say."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose

ROOT = Path(__file__).parents[2] / "examples"
EXAMPLES = {"strings_spectrum": "spectrum", "graphs_precomputed": "graphs"}


def load(example: str) -> ModuleType:
    path = ROOT / example / f"{EXAMPLES[example]}.py"
    spec = importlib.util.spec_from_file_location(f"example_{example}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_prints_what_its_readme_shows(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    load(example).main()
    said = capsys.readouterr().out
    shown = (ROOT / example / "README.md").read_text(encoding="utf-8").split("```")[1]
    number = re.compile(r"\d+\.\d+")
    assert number.sub("", said).split() == number.sub("", shown).split()
    printed, expected = (list(map(float, number.findall(t))) for t in (said, shown))
    assert_allclose(printed, expected, atol=0.03)


def test_the_spectrum_kernel_counts_substrings() -> None:
    words = np.array([["ACGTAC"], ["TACACA"], ["GGGGG"]], dtype=object)
    kernel = load("strings_spectrum").spectrum_kernel(words, words, 2)
    counts = [Counter(w[i : i + 2] for i in range(len(w) - 1)) for (w,) in words]
    plain = np.array([[sum(a[s] * b[s] for s in a) for b in counts] for a in counts], dtype=float)
    lengths = np.sqrt(plain.diagonal())
    assert_allclose(kernel, plain / np.outer(lengths, lengths), atol=1e-15)


def test_functions_and_transformers_are_the_same_on_training_strings() -> None:
    example = load("strings_spectrum")
    X, y = example.sequences(n=60)
    by_functions, by_transformers = (model.fit(X, y) for model in example.models())
    assert_allclose(by_functions.weights_, by_transformers.weights_, atol=1e-3)
    assert_allclose(
        by_functions.decision_function(X), by_transformers.decision_function(X), atol=1e-3
    )


def test_weisfeiler_lehman_does_not_see_how_nodes_are_numbered() -> None:
    example = load("graphs_precomputed")
    found, _ = example.graphs(n=6)
    order = np.random.default_rng(1).permutation(12)
    renumbered = [
        [{int(np.flatnonzero(order == j)[0]) for j in graph[i]} for i in order] for graph in found
    ]
    K = example.weisfeiler_lehman(found + renumbered, rounds=3)
    assert_allclose(K[:, :6, :6], K[:, 6:, 6:], atol=1e-12)
    assert_allclose(np.diagonal(K[:, :6, 6:], axis1=1, axis2=2), 1.0)
    assert (K[3, :6, :6] <= K[0, :6, :6] + 1e-12).all()  # fewer labels are shared
