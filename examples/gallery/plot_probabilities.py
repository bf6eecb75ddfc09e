"""
Probabilities by calibration
============================

The estimators work inside scikit-learn's tools, here calibration by cross-validation: of the
samples with a predicted probability of 0.8, about eight in ten belong to the class.
"""

from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import MKL

X, y = make_classification(1500, 8, n_informative=4, class_sep=0.7, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=500, random_state=0)
model = make_pipeline(StandardScaler(), MKL(kernel="feature_gaussians", C=1))
calibrated = CalibratedClassifierCV(model, cv=5).fit(X_train, y_train)
_ = CalibrationDisplay.from_estimator(calibrated, X_test, y_test, n_bins=8)
