"""Sets of photographs in a tar archive, and the cache of their descriptors.

The digest of such a set is that of the images' bytes and of the version of the descriptors: it is
known before anything is computed, and the last digits of image code, which differ from machine to
machine, do not matter to it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data import image_descriptors
from mklbench.data.cache import keep_or_warn, made_once
from mklbench.data.dataset import Dataset
from mklbench.data.files import untar
from mklbench.data.image_descriptors import Codebooks, Parts
from mklbench.data.own import Table
from mklbench.data.schema import Layout
from mklbench.errors import DataError
from mklbench.extras import missing

logger = logging.getLogger(__name__)

_ENDINGS = (".jpg", ".jpeg", ".png")
# The codebooks see every so many-th image, and images are described so many at a time.
_CODEBOOK_STEP = 4
_BATCH = 40
# Seconds between two lines about the progress.
_INTERVAL = 30.0

Images = Mapping[str, bytes]  # name -> content, in the order of the names


def parse_images(content: bytes, layout: Layout, place: str) -> Table:
    """Parse an archive of images, whose classes are blocks of ``layout.per_class`` images.

    Parameters
    ----------
    content : bytes
        The bytes of a tar archive, packed or not.
    layout : Layout
        Says how many images, in the order of their names, make a class.
    place : str
        The file's name in messages.

    Returns
    -------
    Table
        Its inputs are NaN until they are computed (`described`), which takes minutes.

    Raises
    ------
    DataError
        It is no such archive, or its images do not fill their classes.
    """
    images = _read(content, place)
    if len(images) % layout.per_class:
        raise DataError(
            f"{place} has {len(images)} images, which make no whole number of classes of "
            f"data.per_class={layout.per_class}."
        )
    digest = hashlib.sha256(f"descriptors {image_descriptors.VERSION}\n".encode())
    for name, image in images.items():
        digest.update(f"{PurePosixPath(name).name} {len(image)}\n".encode())
        digest.update(image)
    sizes = image_descriptors.SIZES
    return Table(
        X=np.full((len(images), sum(sizes.values())), np.nan),
        labels=tuple(str(i // layout.per_class + 1) for i in range(len(images))),
        feature_names=tuple(f"{name}{i + 1}" for name, size in sizes.items() for i in range(size)),
        view_sizes=tuple(sizes.values()),
        digest=f"sha256:{digest.hexdigest()}",
    )


def described(dataset: Dataset, content: bytes, directory: Path) -> Dataset:
    """Compute the inputs of a set of images, or take them from the cache.

    They are computed in batches by joblib (in parallel within ``joblib.parallel_config``), each of
    which is kept once it is finished: interrupted, the work goes on where it was. Of many processes
    on one cache one computes them, and the others wait.

    Parameters
    ----------
    dataset : Dataset
        What became of `parse_images`.
    content : bytes
        The archive.
    directory : Path
        Where the descriptors are kept, below a directory of this set of images.

    Raises
    ------
    DataError
        An image cannot be decoded.
    """
    images = _read(content, dataset.source)
    if len(images) != len(dataset.y):
        raise DataError(
            f"data.keep_classes is not to be had of images: leave it out ({dataset.name})."
        )
    path = descriptors_path(directory, dataset.digest)
    cache = _Cache(path.parent)

    def kept() -> NDArray[np.float64] | None:
        found: NDArray[np.float64] | None = cache.load(path.name, lambda arrays: arrays["X"])
        return found

    def make() -> NDArray[np.float64]:
        if asked := missing("images", f"data={dataset.name}"):
            raise DataError(asked)
        X = _describe(images, dataset, cache)
        cache.keep(path.name, X=X)
        cache.discard("batch-*.npz")
        return X

    doing = f"data={dataset.name}: its descriptors are being computed"
    return replace(dataset, X=made_once([path], kept, make, doing))


def descriptors_path(directory: Path, digest: str) -> Path:
    """The file of the descriptors of a set of images with this digest."""
    return directory / f"descriptors-{digest.removeprefix('sha256:')[:12]}" / "all.npz"


def _describe(images: Images, dataset: Dataset, cache: _Cache) -> NDArray[np.float64]:
    from joblib import Parallel, delayed

    logger.warning(
        "data=%s: the descriptors of its %d images are computed, in some minutes, and kept in %s.",
        dataset.name,
        len(images),
        cache.directory,
    )
    listed = list(images.items())
    codebooks = cache.load("codebooks.npz", lambda arrays: Codebooks(**arrays))
    if codebooks is None:
        shown = listed[::_CODEBOOK_STEP]
        measured = Parallel()(delayed(_measure)(item, dataset.source) for item in shown)
        codebooks = image_descriptors.learn_codebooks(measured)
        cache.keep("codebooks.npz", colours=codebooks.colours, locals=codebooks.locals)
    batches = []
    progress = _Progress(dataset.name, len(listed))
    for start in range(0, len(listed), _BATCH):
        name = f"batch-{start:05d}.npz"
        rows = cache.load(name, lambda arrays: arrays["X"])
        if rows is None:
            rows = np.array(
                Parallel()(
                    delayed(_row)(item, codebooks, dataset.source)
                    for item in listed[start : start + _BATCH]
                )
            )
            cache.keep(name, X=rows)
        progress.done(len(rows))
        batches.append(rows)
    return np.vstack(batches)


def _row(item: tuple[str, bytes], codebooks: Codebooks, place: str) -> NDArray[np.float64]:
    return image_descriptors.describe(_measure(item, place), codebooks)


def _measure(item: tuple[str, bytes], place: str) -> Parts:
    from skimage.io import imread

    name, content = item
    try:
        photograph = imread(io.BytesIO(content))
    except Exception as error:  # what a decoder raises depends on the format
        raise DataError(
            f"{place} holds {name}, which cannot be decoded as an image: replace the file."
        ) from error
    if photograph.ndim != 3 or photograph.shape[2] != 3 or photograph.dtype != np.uint8:
        raise DataError(f"{place} holds {name}, which is no image in 8-bit colours: replace it.")
    return image_descriptors.measure(photograph)


def _read(content: bytes, place: str) -> Images:
    """The images of a tar archive, by name."""
    try:
        found = untar(content, _ENDINGS, place)
    except DataError:
        raise
    except Exception as error:  # a damaged file makes tarfile raise almost anything
        raise DataError(f"{place} is not a tar archive of images: {error}.") from error
    if not found:
        raise DataError(f"{place} has no images ({', '.join(_ENDINGS)}) in it.")
    return found


class _Progress:
    """Says now and then how many images are described, in the log: no run has begun yet."""

    def __init__(self, name: str, n_images: int) -> None:
        self._name, self._n_images = name, n_images
        self._n_done = 0
        self._said = time.monotonic()

    def done(self, n_images: int) -> None:
        """Count `n_images` more."""
        self._n_done += n_images
        if time.monotonic() - self._said > _INTERVAL:
            self._said = time.monotonic()
            logger.warning("data=%s: %d of %d images.", self._name, self._n_done, self._n_images)


class _Cache:
    """Files of arrays in a directory; one that cannot be read counts as absent."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def load(self, name: str, read: Callable[[Mapping[str, Any]], Any]) -> Any:
        """Return what `read` makes of the arrays of a file, or None."""
        try:
            with np.load(self.directory / name, allow_pickle=False) as arrays:
                return read(dict(arrays))
        except Exception:  # absent, or a file that somebody has damaged
            return None

    def discard(self, pattern: str) -> None:
        """Remove files that are no longer needed."""
        for path in self.directory.glob(pattern):
            path.unlink(missing_ok=True)

    def keep(self, name: str, **arrays: Any) -> None:
        """Write a file of arrays, whole or not at all."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        keep_or_warn(buffer.getvalue(), self.directory / name)
