"""Sets of photographs: the archive, the descriptors, and what is kept of them."""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config

from mklbench.data import images, load
from mklbench.data.images import SIZES, find_foreground
from mklbench.data.loading import parse_files
from mklbench.data.own import Table
from mklbench.data.schema import Layout
from mklbench.errors import DataError

LAYOUT = Layout(format="images", per_class=4)


def photograph(seed: int, shape: tuple[int, int] = (60, 80)) -> np.ndarray:
    """A bright disc with stripes on a noisy background, (height, width, 3)."""
    rng = np.random.default_rng(seed)
    rows, columns = np.indices(shape)
    picture = rng.integers(20, 60, (*shape, 3)).astype(np.uint8)
    disc = (rows - shape[0] / 2) ** 2 + (columns - shape[1] / 2) ** 2 < (0.35 * min(shape)) ** 2
    colour = rng.integers(120, 255, 3)
    picture[disc] = colour - 40 * ((columns[disc] // (2 + seed % 3)) % 2)[:, None]
    return picture


def encoded(picture: np.ndarray) -> bytes:
    from imageio.v3 import imwrite

    content: bytes = imwrite("<bytes>", picture, extension=".png")
    return content


def archive(files: Mapping[str, bytes], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as tar:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    pictures = {f"jpg/image_{i:04d}.png": encoded(photograph(i)) for i in range(8)}
    return {"jpg/files.txt": b"a list", **pictures}


_measured: dict[bytes, Any] = {}


@pytest.fixture(autouse=True)
def measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure every photograph of this module once, which takes a tenth of a second."""
    measure = images.measure

    def remembering(picture: np.ndarray) -> Any:
        key = picture.tobytes()
        if key not in _measured:
            _measured[key] = measure(picture)
        return _measured[key]

    monkeypatch.setattr(images, "measure", remembering)


def config(path: Path) -> dict[str, Any]:
    return {"name": "discs", "path": str(path), "format": "images", "per_class": 4}


def parse(content: bytes) -> Table:
    return parse_files([content], LAYOUT, "the file")


class TestArchive:
    def test_classes_are_blocks_in_the_order_of_the_names(self, files: dict[str, bytes]) -> None:
        table = parse(archive(dict(reversed(files.items()))))
        assert table.labels == tuple("11112222")
        assert table.view_sizes == tuple(SIZES.values())
        assert table.X.shape == (8, sum(SIZES.values()))

    def test_the_digest_is_that_of_the_images(
        self, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        digest = parse(archive(files)).digest
        moved = {name.removeprefix("jpg/"): content for name, content in files.items()}
        assert parse(archive(moved, "w:gz")).digest == digest
        other = {**files, "jpg/image_0003.png": encoded(photograph(99))}
        assert parse(archive(other)).digest != digest
        monkeypatch.setattr(images, "VERSION", 99)
        assert parse(archive(files)).digest != digest

    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"no archive", "is not a tar archive of images"),
            (archive({"a.txt": b"text"}), "has no images"),
        ],
    )
    def test_what_is_refused(self, content: bytes, reason: str) -> None:
        with pytest.raises(DataError, match=reason):
            parse(content)


class TestDescriptors:
    def test_every_view_is_a_histogram_and_is_kept(
        self, files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "discs.tar").write_bytes(archive(files))
        dataset = load(config(tmp_path / "discs.tar"))
        assert dataset.X.min() >= 0
        for view in dataset.views:
            np.testing.assert_allclose(dataset.X[:, view.start : view.stop].sum(axis=1), 1.0)
        with parallel_config("threading", n_jobs=2):
            monkeypatch.setenv("MKLBENCH_CACHE", str(tmp_path / "other"))
            beside = load(config(tmp_path / "discs.tar"))
        np.testing.assert_array_equal(beside.X, dataset.X)
        monkeypatch.setattr(images, "measure", None)
        again = load(config(tmp_path / "discs.tar"))
        np.testing.assert_array_equal(again.X, dataset.X)

    def test_without_the_package_of_images_one_sentence_asks_for_it(
        self, files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "discs.tar").write_bytes(archive(files))
        monkeypatch.setitem(sys.modules, "skimage", None)
        asked = (
            "data=discs needs scikit-image, which is not installed: pip install 'mklbench[images]'."
        )
        with pytest.raises(DataError) as refused:
            load(config(tmp_path / "discs.tar"))
        assert str(refused.value) == asked

    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            (b"\xff\xd8 no picture", "image_0004.png is one, or damaged"),
            (encoded(photograph(0)[:, :, 0]), "image_0004.png is one, or damaged"),
        ],
    )
    def test_an_image_that_cannot_be_used_is_named(
        self, files: dict[str, bytes], bad: bytes, reason: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "discs.tar"
        path.write_bytes(archive({**files, "jpg/image_0004.png": bad}))
        with pytest.raises(DataError, match=reason):
            load(config(path))

    def test_the_foreground_is_what_differs_from_the_frame(self) -> None:
        from skimage.color import rgb2lab

        picture = photograph(3, (120, 160))
        rows, columns = np.indices((120, 160))
        radius = np.hypot(rows - 60, columns - 80) / 120
        found = find_foreground(rgb2lab(picture))
        assert found[radius < 0.3].mean() > 0.95
        assert found[radius > 0.45].mean() < 0.02
