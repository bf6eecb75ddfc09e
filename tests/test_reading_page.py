"""The page "Reading a model": its code runs, and says what it says it does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from matplotlib import pyplot

from mklbench import IKL

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reading-a-model.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run all code of the page in an empty directory, and return what it has named."""
    matplotlib.use("Agg")
    here = tmp_path_factory.mktemp("page")
    names: dict[str, Any] = {"here": here}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        for code in re.findall(r"^```python\n(.+?)^```", PAGE, re.MULTILINE | re.DOTALL):
            exec(compile(code, "docs/reading-a-model.md", "exec"), names)
    pyplot.close("all")
    return names


def test_names_on_the_page_are_those_of_the_model(page: dict[str, Any]) -> None:
    said = re.findall(r"kernel_names_\[(\d+)\]  # '(.+)'", PAGE)
    assert said
    for number, name in said:
        assert page["mkl"].kernel_names_[int(number)] == name


def test_every_attribute_on_the_page_is_one(page: dict[str, Any]) -> None:
    rows = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    attributes = re.findall(r"`(\w+_)`", " ".join(rows))
    assert len(attributes) == 7
    small = IKL(samples=0, n_global_ascents=1, tol=0.1).fit(page["X"].iloc[:60, :3], page["y"][:60])
    for attribute in attributes:
        assert hasattr(small if attribute == "family_gap_" else page["mkl"], attribute)


def test_pictures_on_the_page_are_those_that_its_code_draws(page: dict[str, Any]) -> None:
    shown = re.findall(r"\(figures/(\w+\.png)\)", PAGE)
    assert sorted(shown) == sorted(path.name for path in page["here"].glob("*.png"))
    for name in shown:
        drawn, kept = page["here"] / name, ROOT / "docs" / "figures" / name
        a, b = pyplot.imread(drawn), pyplot.imread(kept)
        assert a.shape == b.shape
        assert abs(a - b).mean() < 0.05  # fonts differ from machine to machine
