"""Cross-validation of MKL on the workers of a Dask cluster: `python search.py [ADDRESS]`."""

import sys

from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklbench import MKL


def search(X, y):
    """Choose C by cross-validation on 5 folds, which takes 20 fits, and fit once on all samples."""
    model = make_pipeline(StandardScaler(), MKL())
    return GridSearchCV(model, {"mkl__C": [1, 10, 100, 1000]}, cv=5).fit(X, y)


def connect(address=None):
    """Return a client of the scheduler at an address, or of two workers on this machine."""
    if address is not None:
        return Client(address)
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    return Client(LocalCluster(n_workers=2, threads_per_worker=1, **options))


def main(address=None):
    """Search on the cluster, and print what was found."""
    X, y = load_breast_cancer(return_X_y=True)
    with connect(address) as client, parallel_config("dask"):
        n_workers = len(client.ncores())
        found = search(X, y)
    print(f"{n_workers} workers: C = {found.best_params_['mkl__C']}")
    results = found.cv_results_
    for C, score in zip(results["param_mkl__C"], results["mean_test_score"], strict=True):
        print(f"C = {C:<5} accuracy {score:.4f}")
    model = found.best_estimator_[-1]
    chosen = (model.weights_ > 0).sum()
    print(f"{chosen} of {len(model.weights_)} kernels, gap {model.solutions_[0].gap:.1e}")


if __name__ == "__main__":  # the worker processes import this file
    main(*sys.argv[1:2])
