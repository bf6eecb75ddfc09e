"""Sets of photographs in a tar archive, and the cache of their descriptors.

The digest of such a set is that of the images' bytes and of the version of the descriptors: it is
known before anything is computed, and the last digits of image code, which differ from machine to
machine, do not matter to it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data import image_descriptors
from mklbench.data.dataset import Dataset
from mklbench.data.files import keep_or_warn
from mklbench.data.image_descriptors import Parts
from mklbench.data.own import Table
from mklbench.data.schema import Layout
from mklbench.data.tables import reading
from mklbench.errors import DataError, missing

logger = logging.getLogger(__name__)

_ENDINGS = (".jpg", ".jpeg", ".png")
# The codebooks see every so many-th image.
_CODEBOOK_STEP = 4

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
        It is no such archive.
    """
    images = _read(content, place)
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

    They are computed by joblib on all cores.

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
    rows = slice(None) if dataset.rows is None else dataset.rows  # of the classes that are kept
    path = descriptors_path(directory, dataset.digest)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return replace(dataset, X=arrays["X"][rows])
    except Exception:  # absent, or a file that somebody has damaged
        X = _describe(images, dataset)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=X)
    keep_or_warn(buffer.getvalue(), path)
    return replace(dataset, X=X[rows])


def descriptors_path(directory: Path, digest: str) -> Path:
    """The file of the descriptors of a set of images with this digest."""
    return directory / f"descriptors-{digest.removeprefix('sha256:')[:12]}" / "all.npz"


def _describe(images: Images, dataset: Dataset) -> NDArray[np.float64]:
    if asked := missing("images", f"data={dataset.name}"):
        raise DataError(asked)
    from joblib import Parallel, delayed

    logger.warning(
        "data=%s: the descriptors of its %d images are computed, in some minutes, and kept.",
        dataset.name,
        len(images),
    )
    listed = list(images.items())
    shown = listed[::_CODEBOOK_STEP]
    measured = Parallel(n_jobs=-1)(delayed(_measure)(item, dataset.source) for item in shown)
    codebooks = image_descriptors.learn_codebooks(measured)
    place = dataset.source

    def row(item: tuple[str, bytes]) -> NDArray[np.float64]:
        return image_descriptors.describe(_measure(item, place), codebooks)

    rows = Parallel(n_jobs=-1)(delayed(row)(item) for item in listed)
    return np.array(rows)


def _measure(item: tuple[str, bytes], place: str) -> Parts:
    from skimage.io import imread

    name, content = item
    with reading(f"an archive of images, of which {name} is one", place):
        return image_descriptors.measure(imread(io.BytesIO(content)))


def _read(content: bytes, place: str) -> Images:
    """The images of a tar archive, packed or not, by name."""
    found: dict[str, bytes] = {}
    what = "a tar archive of images"
    with reading(what, place), tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if member.isfile() and member.name.lower().endswith(_ENDINGS):
                stream: Any = archive.extractfile(member)
                found[member.name] = stream.read()
    if not found:
        raise DataError(f"{place} has no images ({', '.join(_ENDINGS)}) in it.")
    return dict(sorted(found.items()))
