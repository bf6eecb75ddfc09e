"""Sets of photographs in a tar archive, seven descriptors of each, and the cache of these.

The descriptors stand for colour, shape and texture of the foreground, and are of the kinds that
Nilsback & Zisserman (2006, 2008) use on flowers: two of colour, one of gradients, two of texture,
and visual words inside the foreground and at its border. All are histograms, or vectors of
energies, with entries >= 0. They come from scikit-image; the codebooks of words from scikit-learn.

The digest of such a set is that of the images' bytes and of `VERSION`, that of the descriptors: it
is known before anything is computed, and the last digits of image code, which differ from machine
to machine, do not matter to it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import math
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklbench.data.dataset import Dataset
from mklbench.data.files import keep_or_warn
from mklbench.data.own import Table
from mklbench.data.schema import Layout
from mklbench.data.tables import reading
from mklbench.errors import DataError, missing

logger = logging.getLogger(__name__)

VERSION = 1

Array = NDArray[np.float64]

# Photographs are scaled to this length of the shorter side.
_SIDE = 160
# Bins of hue, saturation and value.
_HSV_BINS = (12, 4, 4)
_COLOUR_WORDS = 200
_LOCAL_WORDS = 400
# Of each photograph so many colours and local descriptors are shown to the codebooks.
_SAMPLED = 100
# Points of a grid, so many pixels apart, have a local descriptor.
_STEP = 5
_RADIUS = 12
_GABOR_FREQUENCIES = (0.08, 0.16, 0.32)
_GABOR_DIRECTIONS = 6
# Cells of the grid in which the energies of the Gabor filters are summed, a side.
_GABOR_CELLS = 4
# Radii of the local binary patterns, each with its number of points.
_LBP_RINGS = ((1, 8), (3, 16))
# Half the width of the border of the foreground, as a share of the shorter side.
_BORDER = 0.06

# Columns of a described photograph, descriptor by descriptor.
SIZES = {
    "hsv": math.prod(_HSV_BINS),
    "colour_words": _COLOUR_WORDS,
    "hog": 7 * 7 * 4 * 9,
    "lbp": sum(points + 2 for _, points in _LBP_RINGS),
    "gabor": len(_GABOR_FREQUENCIES) * _GABOR_DIRECTIONS * _GABOR_CELLS**2,
    "words_inside": _LOCAL_WORDS,
    "words_border": _LOCAL_WORDS,
}


# What is measured in one photograph: finished histograms by descriptor, and what codebooks make
# such of: the colours (k, 3) of points in the foreground, and local descriptors (k, 104).
Parts = dict[str, Array]
_BY_WORDS = {"colour_words": "colours", "words_inside": "locals", "words_border": "locals"}

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
        It is no such archive, or some of the classes are to be kept.
    """
    if layout.keep_classes:
        raise DataError(f"data.keep_classes has no use with the images of {place}: leave it out.")
    images = _read(content, place)
    digest = hashlib.sha256(f"descriptors {VERSION}\n".encode())
    for name, image in images.items():
        digest.update(f"{PurePosixPath(name).name} {len(image)}\n".encode())
        digest.update(image)
    return Table(
        X=np.full((len(images), sum(SIZES.values())), np.nan),
        labels=tuple(str(i // layout.per_class + 1) for i in range(len(images))),
        feature_names=tuple(f"{name}{i + 1}" for name, size in SIZES.items() for i in range(size)),
        view_sizes=tuple(SIZES.values()),
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
    path = descriptors_path(directory, dataset.digest)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return replace(dataset, X=arrays["X"])
    except Exception:  # absent, or a file that somebody has damaged
        X = _computed(images, dataset)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=X)
    keep_or_warn(buffer.getvalue(), path)
    return replace(dataset, X=X)


def descriptors_path(directory: Path, digest: str) -> Path:
    """The file of the descriptors of a set of images with this digest."""
    return directory / f"descriptors-{digest.removeprefix('sha256:')[:12]}" / "all.npz"


def _computed(images: Images, dataset: Dataset) -> NDArray[np.float64]:
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
    codebooks = learn_codebooks(measured)
    place = dataset.source

    def row(item: tuple[str, bytes]) -> NDArray[np.float64]:
        return describe(_measure(item, place), codebooks)

    rows = Parallel(n_jobs=-1)(delayed(row)(item) for item in listed)
    return np.array(rows)


def _measure(item: tuple[str, bytes], place: str) -> Parts:
    from skimage.io import imread

    name, content = item
    with reading(f"an archive of images, of which {name} is one", place):
        return measure(imread(io.BytesIO(content)))


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


def measure(photograph: NDArray[np.uint8]) -> Parts:
    """Measure one photograph (height, width, 3)."""
    from scipy.ndimage import distance_transform_edt
    from skimage.color import rgb2gray, rgb2hsv, rgb2lab
    from skimage.transform import resize

    scale = _SIDE / min(photograph.shape[:2])
    shape = [round(length * scale) for length in photograph.shape[:2]]
    image = resize(photograph, shape, anti_aliasing=True)
    grey, lab = rgb2gray(image), rgb2lab(image)
    hsv, _ = np.histogramdd(rgb2hsv(image).reshape(-1, 3), bins=_HSV_BINS, range=((0, 1),) * 3)
    foreground = find_foreground(lab)
    reach = _BORDER * min(foreground.shape)
    near_inside: Array = distance_transform_edt(foreground)
    near_outside: Array = distance_transform_edt(~foreground)
    border = (near_inside <= reach) & (near_outside <= reach)
    points, local = _local_descriptors(grey)
    at_points = tuple(points.T)
    return {
        "hsv": hsv.ravel(),
        "colour_words": lab[::2, ::2][foreground[::2, ::2]],
        "hog": _gradients(grey),
        "lbp": _patterns(grey),
        "gabor": _energies(grey),
        "words_inside": local[foreground[at_points]],
        "words_border": local[border[at_points]],
    }


def learn_codebooks(measured: Iterable[Parts]) -> dict[str, Array]:
    """Learn the words (w, d) by k-means on a sample of every photograph; always the same ones."""
    generator = np.random.Generator(np.random.PCG64(0))
    rows: dict[str, list[Array]] = {"colours": [], "locals": []}
    for parts in measured:
        for name, codebook in _BY_WORDS.items():
            drawn = generator.permutation(len(parts[name]))[:_SAMPLED]
            rows[codebook].append(parts[name][np.sort(drawn)])
    sizes = {"colours": _COLOUR_WORDS, "locals": _LOCAL_WORDS}
    return {name: _k_means(np.vstack(found), sizes[name]) for name, found in rows.items()}


def describe(parts: Parts, codebooks: dict[str, Array]) -> Array:
    """Return the row of a photograph, histograms of `SIZES` side by side, each with the sum 1."""
    histograms = (
        _counts(parts[name], codebooks[_BY_WORDS[name]], size) if name in _BY_WORDS else parts[name]
        for name, size in SIZES.items()
    )
    return np.concatenate([histogram / (histogram.sum() or 1.0) for histogram in histograms])


def find_foreground(lab: Array) -> NDArray[np.bool_]:
    """Tell the pixels of the foreground of a photograph in Lab (height, width, 3).

    They differ in colour from the frame of the photograph (its outer 8 %), by the Mahalanobis
    distance from the mean colour there, and are near its middle: the logarithm of the distance,
    smoothed and weighted by a Gaussian around the middle, is cut where Otsu's method says.
    """
    from skimage.filters import gaussian, threshold_otsu
    from skimage.morphology import closing, disk

    height, width = lab.shape[:2]
    margin = round(0.08 * min(height, width))
    frame = np.ones((height, width), dtype=bool)
    frame[margin:-margin, margin:-margin] = False
    colours = lab[frame]
    precision = np.linalg.inv(np.cov(colours.T) + np.eye(3))
    difference = lab - colours.mean(axis=0)
    squares = np.einsum("hwi,ij,hwj->hw", difference, precision, difference)
    rows, columns = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)
    saliency = gaussian(np.log1p(squares), 2) * np.exp(-(rows**2) - columns**2)
    return np.asarray(closing(saliency > threshold_otsu(saliency), disk(3)))


def _gradients(grey: Array) -> Array:
    """Histogram of oriented gradients of the central square."""
    from skimage.feature import hog
    from skimage.transform import resize

    top, left = ((length - min(grey.shape)) // 2 for length in grey.shape)
    square = grey[top : top + min(grey.shape), left : left + min(grey.shape)]
    small = resize(square, (128, 128), anti_aliasing=True)
    return np.asarray(hog(small, orientations=9, pixels_per_cell=(16, 16), cells_per_block=(2, 2)))


def _patterns(grey: Array) -> Array:
    """Histograms of uniform local binary patterns at two radii."""
    from skimage.feature import local_binary_pattern

    levels = np.round(255 * grey).astype(np.uint8)
    histograms = []
    for radius, points in _LBP_RINGS:
        codes = local_binary_pattern(levels, points, radius, "uniform").astype(np.intp)
        histograms.append(np.bincount(codes.ravel(), minlength=points + 2))
    return np.concatenate(histograms).astype(np.float64)


def _energies(grey: Array) -> Array:
    """Mean magnitudes of Gabor filters in the cells of a grid."""
    from scipy.signal import fftconvolve
    from skimage.filters import gabor_kernel

    energies: list[float] = []
    for frequency in _GABOR_FREQUENCIES:
        for direction in range(_GABOR_DIRECTIONS):
            kernel = gabor_kernel(frequency, np.pi * direction / _GABOR_DIRECTIONS)
            magnitude = np.abs(fftconvolve(grey - grey.mean(), kernel, mode="same"))
            for band in np.array_split(magnitude, _GABOR_CELLS, axis=0):
                cells = np.array_split(band, _GABOR_CELLS, axis=1)
                energies.extend(cell.mean() for cell in cells)
    return np.array(energies)


def _local_descriptors(grey: Array) -> tuple[NDArray[np.intp], Array]:
    """Points (k, 2) of a grid and their DAISY descriptors (k, 104)."""
    from skimage.feature import daisy

    found = daisy(grey, step=_STEP, radius=_RADIUS, rings=2, histograms=6, orientations=8)
    rows, columns = np.indices(found.shape[:2])
    points = np.stack([rows, columns], axis=-1).reshape(-1, 2) * _STEP + _RADIUS
    return points, found.reshape(len(points), -1)


def _k_means(rows: Array, n_words: int) -> Array:
    """Return at most `n_words` centres (w, d) of `rows` (k, d), always the same ones."""
    from sklearn.cluster import MiniBatchKMeans
    from threadpoolctl import threadpool_limits

    n_found = min(n_words, len(np.unique(rows, axis=0)))
    model: Any = MiniBatchKMeans(n_found, random_state=0, n_init=1, batch_size=4096)
    with threadpool_limits(1):  # on a busy machine more threads are many times slower
        return np.asarray(model.fit(rows).cluster_centers_)


def _counts(rows: Array, words: Array, n_bins: int) -> Array:
    """Return how many of `rows` (k, d) are nearest to each of `words` (w, d), in `n_bins` >= w."""
    distances = (words**2).sum(axis=1) - 2.0 * rows @ words.T
    return np.bincount(distances.argmin(axis=1), minlength=n_bins).astype(np.float64)
