"""What is large stands packed in the page: deflated, in base 64; ``page.js`` unpacks it."""

from __future__ import annotations

import base64
import json
import zlib


def packed(text: str) -> str:
    """Return a text as it may stand inside a script of HTML, in a fraction of its length."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def packed_json(content: object) -> str:
    """Return a JSON object, packed.

    Raises
    ------
    ValueError
        If a number in it is not finite, which JSON does not have.
    """
    return packed(json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False))
