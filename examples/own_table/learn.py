"""Learn from patients.csv: kernels on columns, a grid search, a picture and a saved model."""

from __future__ import annotations

import pandas as pd
import skops.io
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mklbench import MKL, WeightsDisplay
from mklbench.kernels import Linear

table = pd.read_csv("patients.csv")
X, y = table.drop(columns="diagnosis"), table["diagnosis"]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

model = MKL(
    kernel=[
        ("blood", "gaussians", ["glucose", "insulin"], StandardScaler()),
        ("age", Linear(), ["age"], StandardScaler()),
        ("hour", Linear(), ["hour"], StandardScaler()),
        ("clinic", Linear(), ["clinic"], OneHotEncoder(handle_unknown="ignore")),
    ]
)
search = GridSearchCV(model, {"C": [0.1, 1, 10, 100]}, cv=5).fit(X_train, y_train)
best = search.best_estimator_
print(f"C={search.best_params_['C']:g}, accuracy {best.score(X_test, y_test):.3f}")
print(best.kernel_weights(sort=True).round(3).to_string())

picture = WeightsDisplay.from_estimator(best)
picture.figure_.savefig("weights.png", bbox_inches="tight")

skops.io.dump(best, "patients.skops")
X_test.assign(predicted=best.predict(X_test)).to_csv("predicted.csv", index=False)
