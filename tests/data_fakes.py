"""A small data set that the data tests serve, cut short, alter and cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CONFIG_DIRECTORY = Path(__file__).parents[1] / "configs" / "data"

TOY_TEXT = "1.0,0,5.5,b\n2.0,0,-1.5,g\n3.5,0,2.25,g\n0.5,0,1e-3,b\n-4.0,0,7.0,g\n"
TOY_DIGEST = "sha256:43cf0cf54be80e01158203cc23900cab6e2c21565ca84d79c7148dea3d3f7dde"
NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens, so a connection is refused


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
