"""
A table of numbers and words
============================

Each kernel uses its own columns, with its own preprocessing. The weights say which columns
count.
"""

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mklbench import MKL, WeightsDisplay
from mklbench.kernels import Gaussian, Linear

rng = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "age": rng.integers(18, 90, 400),
        "income": rng.lognormal(10, 0.5, 400),
        "city": rng.choice(["Bern", "Graz", "Lyon"], 400),
        "shoe size": rng.normal(42, 2, 400),
    }
)
buys = (np.abs(table.age - 45) < 15) ^ (table.city == "Lyon")
model = MKL(
    kernel=[
        ("age", Gaussian(), ["age"], StandardScaler()),
        ("income", Gaussian(), ["income"], StandardScaler()),
        ("city", Linear(), ["city"], OneHotEncoder()),
        ("shoe size", Gaussian(), ["shoe size"], StandardScaler()),
    ],
    C=10,
).fit(table, buys)
_ = WeightsDisplay.from_estimator(model)
