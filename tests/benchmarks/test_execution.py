"""The benchmark of executors: what is not there is left out, and what the ratios are of."""

from __future__ import annotations

import pytest

from benchmarks import execution
from benchmarks.execution import _Engine


def test_an_executor_that_is_not_there_is_left_out_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = _Engine("local", ("executor=local",), 3.0)
    nowhere = _Engine("nowhere", ("executor=nowhere",), 1.0)
    monkeypatch.setattr(execution, "_ENGINES", (nowhere, here))
    engines, left_out = execution._at_hand()
    assert engines == [here]
    (sentence,) = left_out
    assert sentence.startswith("nowhere: executor=nowhere ")
