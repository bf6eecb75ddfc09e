"""Files that are more than they seem, or no files: a sentence, and in little memory."""

from __future__ import annotations

import importlib
import io
import os
import re
import socket
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from data_fakes import CONFIG_DIRECTORY
from hostile_servers import bomb
from scipy.io import savemat

from mklbench.data import load
from mklbench.data.arrays import parse_splits
from mklbench.data.formats import parse_files
from mklbench.data.schema import Layout
from mklbench.errors import DataError, InputError

LIMIT = 1_000_000
BEYOND = "the file unpacks to more than the 1 MB it may (++data.max_bytes=N allows N bytes)."


def layout(form: Any, **options: Any) -> Layout:
    return Layout(format=form, inputs="x", label="t", max_bytes=LIMIT, **options)


@contextmanager
def little_memory(n_bytes: float = 20e6) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n_bytes


def refusal(content: bytes, layout: Layout) -> str:
    with little_memory(), pytest.raises(DataError) as caught:
        parse_files([content], layout, "the file")
    return str(caught.value)


def archive(name: str, content: bytes) -> bytes:
    """A zip archive of one file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        opened.writestr(name, content)
    return stream.getvalue()


def zipped(method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def npy(shape: str, n_bytes: int = 0) -> bytes:
    """An array whose header claims a shape, followed by so many zeros."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(n_bytes)


def mat_element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content


def mat(*elements: bytes) -> bytes:
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(elements)


def sparse_tar() -> bytes:
    """An archive with one image of 8 GB that is a hole."""
    member = tarfile.TarInfo("a.png")
    member.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT)[:512])
    header[483:495] = b"77777777777\x00"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    return bytes(header) + bytes(1024)


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """What the readers import is no memory of theirs."""
    for name in ("scipy.io", "sklearn.datasets"):
        importlib.import_module(name)


class TestBombs:
    @pytest.mark.parametrize(
        ("form", "parser"), [("gzip", "text"), ("xz", "svmlight"), ("bzip2", "images")]
    )
    def test_a_packed_file(self, form: str, parser: str) -> None:
        assert refusal(bomb(form), layout(parser)) == BEYOND

    def test_npz(self) -> None:
        many = {f"a{i}": npy("(50_000,)", 400_000) for i in range(3)}
        for members in ({"x": npy("(10_000_000,)", 80_000_000)}, many):
            assert refusal(zipped(zipfile.ZIP_DEFLATED, **members), layout("npz")) == BEYOND

    @pytest.mark.parametrize("shape", ["(10000000000000,)", "(-1, 1)", "(9,) * 99", "(" * 50])
    def test_npz_that_claims_what_it_has_not(self, shape: str) -> None:
        message = refusal(zipped(x=npy(shape, 8)), layout("npz"))
        assert message.startswith("the file is not an archive of arrays (npz): ")

    def test_npz_in_another_packing(self) -> None:
        content = zipped(zipfile.ZIP_BZIP2, x=npy("(1,)", 8))
        assert refusal(content, layout("npz")) == (
            "the file holds x.npy, packed in a way NumPy does not."
        )

    def test_npz_in_npz(self) -> None:
        inner = zipped(x=npy("(10_000_000,)", 80_000_000))
        content = zipped(x=inner, t=npy("(1,)", 8))
        assert refusal(content, layout("npz")) == ("the file has no array x.")

    def test_mat(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        packed = mat_element(15, zlib.compress(bytes(80_000_000), 1))
        assert refusal(mat(packed), layout("mat")) == BEYOND
        buffer = io.BytesIO()
        savemat(buffer, {name: np.zeros(50_000) for name in "abc"}, do_compression=True)
        assert refusal(buffer.getvalue(), layout("mat")) == BEYOND
        path = tmp_path / "splits.mat"
        path.write_bytes(buffer.getvalue())
        monkeypatch.setattr("mklbench.data.arrays.DEFAULT_BYTES", LIMIT)
        with little_memory(), pytest.raises(DataError, match=r"splits_file=.* more than the 1 MB"):
            parse_splits(str(path), 4)

    def test_mat_that_claims_what_it_has_not(self) -> None:
        content = mat(struct.pack("<II", 14, 2**31))
        assert "is not a MATLAB file" in refusal(content, layout("mat"))

    def test_tar(self) -> None:
        assert refusal(sparse_tar(), layout("images")) == BEYOND
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for i in range(40):
                member = tarfile.TarInfo(f"{i}.png")
                member.size = 1_000_000
                tar.addfile(member, io.BytesIO(bytes(member.size)))
        assert refusal(buffer.getvalue(), layout("images")) == BEYOND

    def test_tar_whose_members_lead_round(self) -> None:
        member = tarfile.TarInfo("a.txt")
        member.size = -1024
        header = member.tobuf(tarfile.GNU_FORMAT)
        assert "is not a tar archive of images" in refusal(header + bytes(2048), layout("images"))

    @pytest.mark.parametrize("index", [10**7, 2**31 - 1, 10**18, 10**30])
    def test_svmlight_with_a_single_large_index(self, index: int) -> None:
        message = refusal(b"1 1:1\n-1 %d:1\n" % index, layout("svmlight"))
        assert "more than the 1 MB it may" in message or "not in svmlight's format" in message

    def test_a_line_of_too_many_columns(self) -> None:
        text = Layout()
        wide = Layout(delimiter="whitespace")
        for content, chosen in ((b"1," * 2_000_000, text), (b"1 " * 2_000_000, wide)):
            with pytest.raises(DataError, match="line 1 has more than 1000000 columns"):
                parse_files([content], chosen, "the file")

    def test_a_large_table_takes_little_more_than_its_numbers(self) -> None:
        n_rows = 20_000
        content = b"1,2,3,a\n1,2,3,b\n" * (n_rows // 2)
        parse_files([content], Layout(), "the file")
        with little_memory(200 * n_rows):  # a list of the cells of all rows would take twice that
            table = parse_files([content], Layout(), "the file")
        assert table.X.shape == (n_rows, 3)

    def test_the_limit_is_what_the_set_is_expected_to_hold(self, tmp_path: Path) -> None:
        """Of a set that is known no more is unpacked than a file of so many numbers takes."""
        config = yaml.safe_load((CONFIG_DIRECTORY / "sonar.yaml").read_text())
        cached = tmp_path / "sonar" / "sonar.all-data"
        cached.parent.mkdir()
        cached.write_bytes(bomb("gzip"))
        sources = [config["sources"][0]]
        with little_memory(), pytest.raises(DataError, match=r"more than the 1.81 MB it may"):
            load(config | {"sources": sources}, cache_dir=tmp_path, mirror=tmp_path / "sonar")


def own_file(path: Path | str, **options: Any) -> str:
    config = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
    with pytest.raises(InputError) as caught:
        load(config | {"path": str(path)} | options)
    return str(caught.value)


class TestOwnFiles:
    def test_what_is_no_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(tmp_path / "socket"))
        kinds = {
            tmp_path / "fifo": "a pipe",
            tmp_path / "socket": "a socket",
            tmp_path: "a directory",
            Path("/dev/zero"): "a device",
        }
        for path, kind in kinds.items():
            assert own_file(path) == (
                f"data.path={path} is {kind} and not a regular file: give the path of a readable "
                "CSV file."
            )

    def test_a_pipe_of_splits(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(DataError, match=r"splits_file=.*fifo is a pipe and not a regular file"):
            parse_splits(str(tmp_path / "fifo"), 4)

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("n" * 300, "cannot be read: File name too long"),
            ("a\0b", "cannot be read: embedded null byte"),
            ("~no-such-user/mine.csv", "does not exist"),
            ("loop", "cannot be read: Too many levels of symbolic links"),
        ],
    )
    def test_what_cannot_be_opened(
        self, path: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "loop").symlink_to("loop")
        assert f"{reason}: give the path of a readable CSV file." in own_file(path)

    def test_a_file_that_is_too_large(self, tmp_path: Path) -> None:
        path = tmp_path / "large.csv"
        with path.open("wb") as stream:
            stream.truncate(10**12)  # a hole, which takes no disk
        assert own_file(path) == (
            f"data.path={path} holds 1,000 GB, more than the 256 MB it may (++data.max_bytes=N "
            "allows N bytes)."
        )
        assert "more than the 0.001 MB it may" in own_file(path, max_bytes=1000)

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"1,2,a\n3,\x00,b\n", "is not a text file: byte 9 is zero; give a text file in UTF-8"),
            ("1,2,a\n".encode("utf-16"), "is a text file in UTF-16: save it in UTF-8"),
            ("1,2,\xe9\n".encode("latin1"), "is not a text file in UTF-8: byte 5 cannot be read"),
            (archive("mine.csv", b"1,2,a\n"), "is a zip archive: unpack it and name a file in it"),
            (b"1" * 200_000 + b",2,a\n", "line 1 cannot be split into cells"),
            (b"1,2,a\n" + b"x" * 5000 + b",2,b\n", f"column 1: '{'x' * 60}'... is not a number"),
        ],
    )
    def test_what_is_no_table(self, content: bytes, reason: str, tmp_path: Path) -> None:
        path = tmp_path / "mine.csv"
        path.write_bytes(content)
        message = own_file(path)
        assert message.startswith(f"data.path={path}")
        assert re.search(re.escape(reason), message)
        assert len(message) < 500

    @pytest.mark.parametrize("delimiter", ["\t", "\\t", "tab"])
    def test_a_tab_as_people_write_it(self, delimiter: str, tmp_path: Path) -> None:
        path = tmp_path / "mine.csv"
        path.write_text("1\t2\ta\n3\t4\tb\n5\t6\ta\n")
        config = yaml.safe_load((CONFIG_DIRECTORY / "csv.yaml").read_text())
        dataset = load(config | {"path": str(path), "delimiter": delimiter})
        np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4], [5, 6]])

    def test_more_than_memory_holds(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.csv"
        path.write_text("1,2,a\n3,4,b\n")
        assert own_file(path, noise_features=10**9) == (
            "data.noise_features=1000000000 makes 1000000002 columns of 2 rows, 16 GB, where at "
            "most 64000000 fit: choose fewer."
        )
        twonorm = yaml.safe_load((CONFIG_DIRECTORY / "twonorm.yaml").read_text())
        with pytest.raises(InputError, match="must be a whole number of at most 5000000"):
            load(twonorm | {"n_samples": 10**11})
