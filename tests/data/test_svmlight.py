"""Files in svmlight's format, read in blocks: as scikit-learn reads the whole, in less memory."""

from __future__ import annotations

import io
import re
import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from mklbench.data import svmlight
from mklbench.data.formats import detected, parse_files
from mklbench.data.schema import Layout
from mklbench.errors import DataError

LAYOUT = Layout(format="svmlight")


def written(n: int, d: int, seed: int = 0, zero_based: bool = False) -> bytes:
    """A file of so many samples, of which a third of the numbers are left out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) > 1 / 3)
    X[0, -1] = 1.0
    stream = io.BytesIO()
    dump_svmlight_file(X, rng.integers(0, 3, n), stream, zero_based=zero_based)
    return stream.getvalue()


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("block", [1, 100, 2**20])
def test_is_what_scikit_learn_reads(
    block: int, zero_based: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svmlight, "_BLOCK", block)
    content = written(50, 7, zero_based=zero_based)
    X, y = load_svmlight_file(io.BytesIO(content), zero_based=zero_based)
    table = parse_files([content], Layout(format="svmlight", zero_based=zero_based), "the file")
    np.testing.assert_array_equal(table.X, X.toarray())
    assert table.labels == tuple(f"{label:g}" for label in y)


def test_comments_and_empty_lines_are_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"# 9:1\n\n1 1:2 # 7:1\r\n \n-1 3:1\n# the end 8:2"
    for block in (1, 2**20):
        monkeypatch.setattr(svmlight, "_BLOCK", block)
        table = parse_files([content], LAYOUT, "the file")
        np.testing.assert_array_equal(table.X, [[2, 0, 0], [0, 0, 1]])
        assert table.labels == ("1", "-1")


def test_no_cut_goes_unsaid_but_one_between_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    """The remains of a line may be a whole one: nobody can tell but by the newline."""
    content = written(6, 3)
    refused = warned = 0
    for end in range(1, len(content)):
        caplog.clear()
        try:
            parse_files([content[:end]], LAYOUT, f"file {end}")
        except DataError:
            refused += 1
            continue
        said = f"file {end} does not end its last line: if the file was cut there"
        assert (said in caplog.text) == (content[end - 1 : end] != b"\n")
        warned += said in caplog.text
    assert refused > 20
    assert warned > 50


def test_rows_without_inputs_and_without_an_end_are_rows() -> None:
    table = parse_files([b"1 2:1\n0\n1 1:3"], LAYOUT, "the file")
    np.testing.assert_array_equal(table.X, [[0, 1], [0, 0], [3, 0]])


@pytest.mark.parametrize("block", [1, 2**20])
@pytest.mark.parametrize("end", [b"1 1:0.5 2", b"1 1:0.5 2:", b"1 1:0.5 2:-", b"-"])
def test_a_file_that_ends_within_a_line_is_one_sentence(
    end: bytes, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(svmlight, "_BLOCK", block)
    sentence = "the file ends early, in the middle of line 3: get the whole file again."
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        parse_files([b"1 1:1\n0 2:1\n" + end], LAYOUT, "the file")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"1 1:1\n1 2:x\n0 2:1\n", "is not in svmlight's format"),
        (b"1 2:1 1:1\n", "is not in svmlight's format"),
        (b"1 2:1 1:1\n0 3:1\n", "is not in svmlight's format"),
        (b"1 1:nan\n", "holds NaN or infinite values"),
        (b"1\n0\n", "has no row with a label and an input"),
        (b"# nothing\n", "has no row with a label and an input"),
        (b"1 " + b"9" * 5000 + b":1\n", "and so more than the 256 MB it may"),
    ],
)
def test_what_is_none_is_one_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^the file .*{sentence}.*[.]$"):
        parse_files([content], LAYOUT, "the file")


def test_beside_the_inputs_there_is_no_more_than_some_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = written(6000, 40)
    monkeypatch.setattr(svmlight, "_BLOCK", 2**14)
    parse_files([content[: content.index(b"\n", 2000) + 1]], LAYOUT, "the file")  # imports
    tracemalloc.start()
    try:
        table = parse_files([content], LAYOUT, "the file")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.3 * table.X.nbytes + 20 * 2**14


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (b"1 1:2 3:4\n-1 1:3\n", "svmlight"),
        (b"# rows\n\n1\r\n-1 # all zero\n1 3:4\n", "svmlight"),
        (b"1 qid:3 1:2\n-1 qid:3 2:1\n", "svmlight"),
        (b"1\n2\n3\n", "text"),
        (b"1\n" * 100_000, "text"),
        (b"1 2:3 hello\n", "text"),
        (b"1,2\n", "text"),
        (b"# x\n", "text"),
    ],
)
def test_is_known_by_the_first_line_with_features(content: bytes, form: str) -> None:
    assert detected(content) == form


def test_a_row_without_features_may_be_the_first() -> None:
    table = parse_files([b"-1\n1 1:2\n1 2:3\n"], Layout(format="auto"), "the file")
    np.testing.assert_array_equal(table.X, [[0, 0], [2, 0], [0, 3]])
