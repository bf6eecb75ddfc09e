"""The page "Many samples" against the program: its code, its command, its links."""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def test_a_kernel_takes_as_much_as_the_page_says() -> None:
    from mklbench.kernels import feature_widths
    from mklbench.kernels.banks.generated import Widths
    from mklbench.kernels.builders.named import MOST_STORED

    million, two = (feature_widths(np.eye(2, 20), k).memory(9) for k in (50_000, 100_000))
    # Beside them there are numbers for each width at some 85 points.
    assert two.kept - million.kept == 112e6 + 8 * 100 * 50_000
    assert "112 bytes per kernel" in PAGE
    assert len(Widths(0.5 / np.geomspace(0.5, 20.0, 1000) ** 2).points) == 84
    assert f"From {MOST_STORED:,} kernels on" in PAGE


def test_what_auto_takes_is_what_the_page_says() -> None:
    from mklbench.kernels.row_factors import MANY
    from mklbench.optim import joint_search

    assert f"fewer than {MANY:,} samples" in PAGE
    assert "6e-10 R² < 1.4e-7 n" in PAGE
    assert (joint_search._PER_FACTORS, joint_search._PER_GRAM) == (6e-10, 1.4e-7)
