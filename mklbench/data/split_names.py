"""Names of the parts of fixed splits, as they stand in files: train_1, trn1, trainIdx, val1, ..."""

from __future__ import annotations

import re
from typing import Literal

Part = Literal["train", "validation", "test"]

_WORDS: dict[str, Part] = {
    "train": "train", "training": "train", "trn": "train", "tr": "train",
    "validation": "validation", "valid": "validation", "val": "validation",
    "test": "test", "testing": "test", "tst": "test", "te": "test",
}  # fmt: skip
_ROWS = r"(?:rows?|idx|ind|index|indices|ids?)"
_NAME = re.compile(
    rf"(?:{_ROWS}_?)?({'|'.join(sorted(_WORDS, key=len, reverse=True))})(?:_?{_ROWS})?_?(\d{{0,6}})"
)


def part_of(name: str) -> tuple[Part, int | None] | None:
    """Return the part of a split that a name stands for, and its number; None for other names.

    "train_2", "trn2" and "trainIdx2" are the training part of split 2; without a number it is None.
    """
    found = _NAME.fullmatch(name.strip().lower())
    if found is None:
        return None
    return _WORDS[found[1]], int(found[2]) if found[2] else None
