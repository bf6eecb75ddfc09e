"""The data sets as the page knows them: how large they are, and of how many views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mklbench import resources


def describe_sets(names: Iterable[str], config_dir: str | None = None) -> dict[str, dict[str, Any]]:
    """Return what is known of data sets by the name of their config.

    Parameters
    ----------
    names : iterable of str
        Names as records have them.
    config_dir : str or None, default=None
        A directory of the reader's own configs.

    Returns
    -------
    By name a JSON object of ``title``, ``n_features``, ``n_views`` (1 where the samples are one
    table of features) and ``n_classes`` (0 where they are not known).
    """
    files = resources.choices("data", config_dir)
    return {name: _described(resources.read_yaml(files[name])) for name in names if name in files}


def _described(config: Any) -> dict[str, Any]:
    expected = config.get("expected") or {}
    return {
        "title": str(config.get("title", "")),
        "n_features": expected.get("n_features") or config.get("n_features") or 0,
        "n_views": len(config.get("views") or ()) or 1,
        "n_classes": len(expected.get("classes") or ()),
    }
