import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparsieve import ExclusiveL21Selector, RidgeForwardSelector
from sparsieve.evaluation import Folds
from sparsieve.studies import DatasetSpec, SelectorSpec, Store, Study, run_study

NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def nasty_wine():
    """Data whose names would do harm in a page that does not escape them."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    names = [NASTY, "a & b", 'say "hi"', "${x}", "{{ 1 + 1 }}", "</script><b>", "x.y[0]"]
    names += ["back\\slash", "=1+1", "toString", "hasOwnProperty", "__proto__", "constructor"]
    X.columns = names
    labels = np.array(["<img src=x onerror=alert(2)>", "constructor", "__proto__"])[y]
    return X, labels


@pytest.fixture(scope="session")
def nasty_selector(nasty_wine):
    X, y = nasty_wine
    return RidgeForwardSelector(n_features_to_select=6).fit(X, y)


@pytest.fixture(scope="session")
def exclusive_selector(nasty_wine):
    X, y = nasty_wine
    return ExclusiveL21Selector(alpha=20.0, beta=20.0).fit(X, y)


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Four methods on three data sets."""
    made = [
        DatasetSpec(
            f"made {i}",
            make="make_shared_features",
            parameters={"n_samples": 45, "n_features": 20, "n_relevant": 3, "random_state": i},
        )
        for i in range(2)
    ]
    selectors = [
        "fisher",
        "ridge-forward",
        SelectorSpec("f-statistic", label=f"F {NASTY}"),
        SelectorSpec("l21", grid={"alpha": [1.0, 10.0]}, tuning="best-on-test"),
    ]
    study = Study(
        "small", ["wine", *made], selectors, Folds(3), ks=[1, 3, 5], classifiers=["1nn", "svm"]
    )
    path = tmp_path_factory.mktemp("study") / "small.sqlite"
    run_study(study, path)
    return path


@pytest.fixture(scope="session")
def uneven(tmp_path_factory):
    """Sets of 5 and 13 features, a fit that does not converge, and no selection at all."""
    settings = {"alpha": 1.0, "tol": 1e-15, "max_iter": 1}
    slow = SelectorSpec("l21", parameters=settings, label="hasty")
    size = {"n_samples": 45, "n_features": 5, "n_relevant": 2, "random_state": 0}
    few = DatasetSpec("few", make="make_shared_features", parameters=size)
    study = Study(
        *("uneven", [few, "wine"], ["fisher", slow, "AllFeatures"], Folds(2)),
        ks=[2, 4, 8],
        classifiers=["svm"],
    )
    path = tmp_path_factory.mktemp("uneven") / "uneven.sqlite"
    run_study(study, path)
    return path


@pytest.fixture(scope="session")
def large_store(tmp_path_factory):
    """Twelve methods on twelve data sets, 50 numbers of features, four classifiers, five folds."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("large") / "large.sqlite"
    ks, classifiers = range(1, 51), ("1nn", "5nn", "svm", "softmax")
    cells, results = {}, {}
    for dataset in range(12):
        for method in range(12):
            for fold in range(5):
                key = f"{dataset}-{method}-{fold}"
                cells[key] = {
                    "dataset": f"data set {dataset}",
                    "selector": f"Method{method}Selector",
                    "label": f"method {method}",
                    "fingerprint": "f",
                    "parameters": {},
                    "tuning": "none",
                    "protocol": {"kind": "folds", "n_folds": 5},
                    "repeat": 0,
                    "fold": fold,
                    "n_samples": 100,
                    "n_features": 2000,
                    "seed": 0,
                }
                accuracies = rng.random((len(ks), len(classifiers))) * 0.3 + 0.05 * method
                results[key] = {
                    "chosen": {},
                    "n_train": 80,
                    "n_test": 20,
                    "software": {"numpy": "2"},
                    "machine": {"node": "here"},
                    "seconds": rng.random(),
                    "peak_mib": 1.0,
                    "memory_source": "none",
                    "warnings": [],
                    "features": rng.permutation(2000)[:50].tolist(),
                    "selections": [
                        {"k": k, "redundancy_signed": rng.random(), "redundancy_absolute": 0.3}
                        for k in ks
                    ],
                    "scores": [
                        {
                            "k": k,
                            "n_selected": k,
                            "classifier": name,
                            "accuracy": accuracies[k - 1, i],
                        }
                        for k in ks
                        for i, name in enumerate(classifiers)
                    ],
                }
    with Store(path) as opened:
        opened.plan("large", cells)
        for key, result in results.items():
            opened.claim(key)
            opened.finish(key, result)
    return path
