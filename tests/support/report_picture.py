"""The picture of the report in the documentation, and the words that it shows.

`python tests/support/report_picture.py` takes it again, where Chromium is.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

PICTURE = Path(__file__).parents[2] / "docs" / "figures" / "report.png"
SIZE = (1280, 660)  # ends above the heading of the findings
KEY = "words"


def words(page: str) -> str:
    """Return the words of the report from its title to its findings."""
    shown = page.partition('<h1 id="start-title"')[2].partition('<details class="printed">')[0]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", f"<h1{shown}")).split())


def words_shown(picture: Path = PICTURE) -> str:
    """Return the words that the picture has been taken of."""
    with Image.open(picture) as image:
        return str(image.info.get(KEY))


def take(page: str, picture: Path = PICTURE) -> None:
    """Take the picture of a report, in 256 colours, with its words beside it."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    with tempfile.TemporaryDirectory() as directory:
        path, shot = Path(directory, "report.html"), Path(directory, "shot.png")
        path.write_text(page, encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=9000")
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        command = [chromium, *options, size, f"--screenshot={shot}", path.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
        info = PngInfo()
        info.add_text(KEY, words(page))
        with Image.open(shot) as image:
            image.convert("RGB").quantize(256).save(picture, pnginfo=info, optimize=True)


if __name__ == "__main__":
    from mklbench.report.site.build import build

    take(build())
