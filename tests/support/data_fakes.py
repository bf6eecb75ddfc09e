"""Small data sets that the data tests serve, cut short, alter and cache."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import savemat

from mklbench.data import Dataset, catalogue, load
from mklbench.data.dataset import content_digest

CONFIG_DIRECTORY = Path(__file__).parents[2] / "configs" / "data"

TOY_TEXT = "1.0,0,5.5,b\n2.0,0,-1.5,g\n3.5,0,2.25,g\n0.5,0,1e-3,b\n-4.0,0,7.0,g\n"
TOY_DIGEST = "sha256:43cf0cf54be80e01158203cc23900cab6e2c21565ca84d79c7148dea3d3f7dde"
NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens, so a connection is refused


def shipped_configs() -> dict[str, dict[str, Any]]:
    """The configurations of all data sets, by name."""
    return catalogue.read_files(sorted(CONFIG_DIRECTORY.glob("*.yaml")))


def read_own(*paths: Path, **options: Any) -> Dataset:
    """Read one file of the user's own, or several, with options of data=csv."""
    (config,) = catalogue.read_files([CONFIG_DIRECTORY / "csv.yaml"]).values()
    place = str(paths[0]) if len(paths) == 1 else list(map(str, paths))
    return load(config | {"path": place} | options)


def toy_config(*urls: str, **options: Any) -> dict[str, Any]:
    """The configuration of the toy set, with these upstream URLs."""
    return {
        "name": "toy",
        "sources": [{"mirror": "toy/toy.data"}, *({"url": url} for url in urls)],
        "label": "last",
        "positive": "g",
        "expected": {
            "n_samples": 5,
            "n_features": 3,
            "classes": {"b": 2, "g": 3},
            "constant_features": ["x2"],
            "digest": TOY_DIGEST,
        },
        **options,
    }


def toy_benchmark(n_splits: int = 3) -> dict[str, Any]:
    """A struct as in benchmarks.mat: 12 rows, and splits of 8 and 4 rows that count from 1."""
    generator = np.random.default_rng(7)
    t = np.tile([-1, 1], 6)
    rows = [_rows_of_both_classes(generator) + 1 for _ in range(n_splits)]
    return {
        "x": generator.normal(size=(12, 2)) + t[:, None],
        "t": t[:, None].astype(np.int16),
        "train": np.array([numbers[:8] for numbers in rows], dtype=np.uint16),
        "test": np.array([numbers[8:] for numbers in rows], dtype=np.uint16),
    }


def _rows_of_both_classes(generator: np.random.Generator) -> NDArray[np.int64]:
    """The numbers 0 ... 11, half of the first 8 and of the last 4 of them even."""
    pairs = 2 * generator.permutation(6)
    return np.concatenate([generator.permutation([pair, pair + 1]) for pair in pairs])


def benchmarks_file(**structs: Any) -> bytes:
    """A file of the layout of benchmarks.mat."""
    buffer = io.BytesIO()
    savemat(buffer, structs, do_compression=True)
    return buffer.getvalue()


def benchmark_config(official: bytes, url: str = f"{NOWHERE}/benchmarks.mat") -> dict[str, Any]:
    """The configuration of the toy benchmark, whose official file has these bytes."""
    toy = toy_benchmark()
    return {
        "name": "ida_toy",
        "sources": [{"mirror": "ida/toy.npz"}],
        "format": "npz",
        "inputs": "x",
        "label": "t",
        "positive": "1",
        "edition": "auto",
        "official": {
            "mirror": "ida/benchmarks.mat",
            "url": url,
            "struct": "toy",
            "sha256": hashlib.sha256(official).hexdigest(),
        },
        "splits": {"n_train": 8, "n_test": 4, "n_splits": 3, "stratified": False},
        "expected": {
            "n_samples": 12,
            "n_features": 2,
            "classes": {"-1": 6, "1": 6},
            "digest": content_digest(toy["x"], (toy["t"].ravel() == 1).astype(np.int64)),
        },
    }


def write_pooled(mirror: Path) -> None:
    """Put the pooled rows of the toy benchmark into a mirror directory."""
    toy = toy_benchmark()
    (mirror / "ida").mkdir(parents=True, exist_ok=True)
    np.savez(mirror / "ida" / "toy.npz", x=toy["x"], t=toy["t"].ravel())


def write_official(mirror: Path, content: bytes) -> None:
    """Put the official file into a mirror directory."""
    (mirror / "ida").mkdir(parents=True, exist_ok=True)
    (mirror / "ida" / "benchmarks.mat").write_bytes(content)
