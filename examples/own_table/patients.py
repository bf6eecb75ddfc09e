"""Write patients.csv: a table with text labels, a column of categories, and numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

N = 400


def patients(n: int, seed: int) -> pd.DataFrame:
    """Return `n` patients; who is ill depends on age, blood and clinic, not on the hour."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "glucose": rng.normal(5.5, 1.2, n).round(2),
            "insulin": rng.normal(10, 3, n).round(1),
            "hour": rng.integers(8, 18, n),
            "clinic": rng.choice(["harbour", "hill", "station"], n),
        }
    )
    # Both very low and very high glucose are bad, which no linear kernel can tell.
    risk = (table["glucose"] - 5.5).abs() + 0.04 * (table["age"] - 54)
    risk += np.where(table["clinic"] == "station", 0.8, 0.0) + rng.normal(0, 0.2, n)
    table["diagnosis"] = np.where(risk > 1.2, "ill", "well")
    return table


if __name__ == "__main__":
    patients(N, seed=0).to_csv("patients.csv", index=False)
    print(f"patients.csv: {N} rows")
