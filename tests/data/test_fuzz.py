"""Whatever bytes a file has, it is read as it was written, or refused in a sentence, and soon."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from fuzzing import examples
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from mklbench.data.formats import parse_files
from mklbench.data.options import parse_config
from mklbench.data.schema import FileConfig, GeneratedConfig, Layout
from mklbench.data.table import Table
from mklbench.errors import DataError, InputError

LIMIT = 1_000_000
numbers = st.floats(allow_nan=False, allow_infinity=False)
inputs = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers)
packers: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}


def layout(form: Any, **options: Any) -> Layout:
    return Layout(format=form, inputs="x", max_bytes=LIMIT, **({"label": "t"} | options))


def npz(x: Any, t: Any, **others: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=x, t=t, **others)
    return buffer.getvalue()


def mat(**variables: Any) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, variables)  # not compressed: then damage is more than a wrong checksum
    return buffer.getvalue()


def views(*arrays: Any) -> np.ndarray:
    cell = np.empty(len(arrays), dtype=object)
    cell[:] = arrays
    return cell


def svmlight(x: Any, t: Any) -> bytes:
    buffer = io.BytesIO()
    dump_svmlight_file(x, t, buffer, zero_based=False)
    return buffer.getvalue()


def tar(*names: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 9
            archive.addfile(member, io.BytesIO(b"no image!"))
    return buffer.getvalue()


class TestRoundTrips:
    @given(
        inputs,
        st.sampled_from([",", ";", "\t", "|", "whitespace"]),
        st.sampled_from(sorted(packers)),
        st.booleans(),
        st.sampled_from(["\n", "\r\n", "\r"]),
    )
    @examples(30)
    def test_text(
        self, x: np.ndarray, delimiter: str, packing: str, header: bool, end: str
    ) -> None:
        mark = " " if delimiter == "whitespace" else delimiter
        rows = [[*map(repr, row.tolist()), f"class{i}"] for i, row in enumerate(x)]
        names = [f"input{j}" for j in range(x.shape[1])]
        lines = [mark.join(row) for row in [*([[*names, "t"]] if header else []), *rows]]
        content = packers[packing]((end.join(lines) + end).encode())
        chosen = layout("text", delimiter=delimiter, header=header, label="last")
        table = parse_files([content], chosen, "the file")
        np.testing.assert_array_equal(table.X, x)
        assert table.labels == tuple(row[-1] for row in rows)
        assert not header or table.feature_names == tuple(names)

    @given(inputs, st.sampled_from(["float64", "float32", "int8", "uint16", "bool", ">f8"]))
    @examples(30)
    def test_npz_and_mat(self, x: np.ndarray, kind: str) -> None:
        with np.errstate(all="ignore"):
            typed = np.nan_to_num(x.astype(kind), posinf=1.0, neginf=1.0)
        t = np.arange(len(x))
        tables = [
            parse_files([npz(typed, t)], layout("npz"), "the file"),
            parse_files([npz(np.asfortranarray(typed), t)], layout("npz"), "the file"),
            parse_files([mat(x=typed, t=t[:, None])], layout("mat"), "the file"),
        ]
        for table in tables:
            np.testing.assert_array_equal(table.X, typed.astype(np.float64))
            assert table.labels == tuple(map(str, t))

    @given(inputs)
    @examples(20)
    def test_svmlight(self, x: np.ndarray) -> None:
        x = np.round(x % 1000.0, 3)
        x[0, -1] = 1.0  # the number of columns is that of the last one that is not 0
        table = parse_files([svmlight(x, np.arange(len(x)))], layout("svmlight"), "the file")
        np.testing.assert_allclose(table.X, x)


X = np.array([[1.0, 2.0], [3.0, 4.5], [-1.0, 0.0], [2.0, 7.0]])
T = np.array([-1, 1, 1, -1])
SEEDS: dict[str, tuple[bytes, Layout]] = {
    "text": (b'a,b,"t"\n1,2,x\n3,?,y\n-1e3,inf,x\n', layout("text", header="auto", missing="?")),
    "whitespace": (b"1 2\tx\n3 4 y\n", layout("text", delimiter="whitespace", label=-1)),
    "gzip": (gzip.compress(b"1,2,x\n3,4,y\n"), layout("text", label="last")),
    "xz": (lzma.compress(b"1,2,x\n3,4,y\n"), layout("text", label="last")),
    "bzip2": (bz2.compress(b"1,2,x\n3,4,y\n"), layout("text", label="last")),
    "npz": (npz(X, T, train_1=[0, 1], test_1=[2, 3]), layout("npz")),
    "mat": (mat(x=X, t=T[:, None]), layout("mat")),
    "mat with views": (mat(x=views(X, X[:, :1]), t=views(T[:, None], T[:, None])), layout("mat")),
    "mat with a struct": (
        mat(toy={"x": X, "t": T[:, None], "train": [[1, 2, 3]], "test": [[4]]}),
        layout("mat", struct="toy"),
    ),
    "svmlight": (svmlight(X, T), layout("svmlight")),
    "images": (tar("a.png", "b.jpg", "c.txt"), layout("images")),
}


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with a few bytes changed, taken out or put in, or cut short."""
    damage = bytearray(content)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(damage) - 1, 0)))
        how = draw(st.sampled_from(["change", "insert", "remove", "cut", "double"]))
        some = draw(st.binary(min_size=1, max_size=8))
        if how == "change":
            damage[at : at + len(some)] = some
        elif how == "insert":
            damage[at:at] = some
        elif how == "remove":
            del damage[at : at + len(some)]
        elif how == "cut":
            del damage[at:]
        else:
            damage[at:at] = damage[at : at + 64]
    return bytes(damage)


def parse_or_refuse(content: bytes, layout: Layout) -> None:
    try:
        table = parse_files([content], layout, "the file")
    except DataError as error:
        message = str(error)
        assert "\n" not in message
        assert message.endswith((".", "?"))
        return
    assert isinstance(table, Table)
    n_rows, n_columns = table.X.shape
    assert n_rows == len(table.labels) > 0
    assert n_columns == len(table.feature_names) > 0
    assert layout.format == "images" or np.isfinite(table.X).all()
    for train, test in table.splits:
        assert 0 <= min(train.min(), test.min()) <= max(train.max(), test.max()) < n_rows


@pytest.mark.slow
@pytest.mark.parametrize("form", SEEDS)
def test_damaged_files(form: str) -> None:
    seed, chosen = SEEDS[form]
    parse_or_refuse(seed, chosen)

    @given(damaged(seed))
    @examples(60)
    def check(content: bytes) -> None:
        parse_or_refuse(content, chosen)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("place", range(128, len(SEEDS["mat with a struct"][0]), 2))
def test_a_wrong_byte_in_a_mat_file_does_not_end_the_process(place: int) -> None:
    """SciPy's reader alone ends it at a type that is none, and where a part is missing."""
    content = bytearray(SEEDS["mat with a struct"][0])
    for value in (9, 14, 15, 40, 88, 140):
        content[place] = value
        parse_or_refuse(bytes(content), SEEDS["mat with a struct"][1])


def test_parts_that_hold_nothing() -> None:
    for content, chosen in (
        (mat(x=views(), t=T), layout("mat")),
        (mat(x=X, t=views()), layout("mat")),
        (npz(X, T, train_1=np.array(["a"]), test_1=[1]), layout("npz")),
    ):
        with pytest.raises(DataError):
            parse_files([content], chosen, "the file")


@pytest.mark.parametrize("form", SEEDS)
def test_arbitrary_bytes(form: str) -> None:
    seed, chosen = SEEDS[form]

    @given(st.integers(0, 140), st.binary(max_size=200))
    @examples(25)
    def check(n_kept: int, content: bytes) -> None:
        parse_or_refuse(seed[:n_kept] + content, chosen)

    check()


@given(
    st.text(
        st.sampled_from('0123456789.,;-eEinfaNx"\n\r\t \x0b\x1c\x85\u2028\u0663?_'), max_size=80
    ),
    st.builds(
        Layout,
        delimiter=st.sampled_from([",", ";", "\t", "whitespace", " ", ".", "e"]),
        header=st.sampled_from([True, False, "auto"]),
        skip_lines=st.integers(0, 3),
        label=st.sampled_from(["last", "a", 1, 2, -1, 99]),
        id_columns=st.sampled_from([(), (1,), ("x",), (1, 2, 3)]),
        missing=st.sampled_from([None, "?", "", "nan"]),
    ),
)
@examples(50)
def test_arbitrary_tables(text: str, layout: Layout) -> None:
    parse_or_refuse(text.encode(), layout)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["text", "images", "official", "regression", "last", "x", "mirror", "url"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["url", "mirror", "name", "n_train", "x"]), inner)
    ),
    max_leaves=6,
)
KEYS = [
    *("name", "title", "notes", "noise_features", "drop_features", "n_features", "splits"),
    *("sources", "path", "positive", "expected", "keep_classes", "official", "edition", "task"),
    *("views", "splits_file", "format", "inputs", "struct", "delimiter", "header", "skip_lines"),
    *("label", "id_columns", "missing", "label_names", "per_class", "max_bytes", "generator"),
    *("n_samples", "seed", "feature_names", "drop_constant", "nonsense"),
]


@given(st.dictionaries(st.sampled_from(KEYS), plain, max_size=6))
@examples(40)
def test_arbitrary_configurations(options: dict[str, Any]) -> None:
    whole = {"name": "toy", "sources": [{"mirror": "toy.csv"}], **options}
    with suppress(InputError):
        assert isinstance(parse_config(whole), FileConfig | GeneratedConfig)
