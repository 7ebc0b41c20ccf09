"""What estimators, the command line and studies do with every kind of odd input."""

from __future__ import annotations

import contextlib
import io
import re
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning

from odd_inputs import KINDS, LETTERS, usual_data
from sparsieve.app.cli.app import run
from sparsieve.registry import all_methods
from sparsieve.scoring import Folds
from sparsieve_experiments.studies import DatasetSpec, StoreReader, Study, StudyError, run_study

SECONDS = 20  # of CPU, whatever else the machine is doing
SENTENCES = ("ValueError: ", "TypeError: ")


@dataclass(frozen=True)
class Cell:
    """What an estimator does with a kind of input."""

    outcome: str  # "answer", "refused", "no such argument", or what went wrong
    sentence: str = ""

    @property
    def fine(self) -> bool:
        """A right answer or one sentence that names an argument."""
        return self.outcome in ("answer", "refused", "no such argument")


def cell(estimator: Any, name: str) -> Cell:
    """Fit and use a copy of the estimator on this kind of input."""
    kind, (X, y) = KINDS[name], usual_data()
    estimator, fit = clone(estimator), {}
    if kind.group == "X and y":
        X, y = kind.make(X, y)
    elif kind.group == "sample_weight":
        fit["sample_weight"] = kind.make(np.ones(len(y)))
    elif kind.group == "class_weight":
        if "class_weight" not in estimator.get_params(deep=False):
            return Cell("no such argument")
        estimator.set_params(class_weight=kind.make())
    elif kind.group == "transform with names":
        X = pd.DataFrame(X, columns=LETTERS)
    start, results = time.process_time(), {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, y, **fit)
            later = kind.make(X) if kind.group.startswith("transform") else X
            for verb in ("transform", "predict"):
                if hasattr(estimator, verb):
                    results[verb] = getattr(estimator, verb)(later)
        except (ValueError, TypeError) as error:
            return _refusal(str(error), estimator)
        except Exception as error:
            return Cell(type(error).__name__, str(error)[:200])
    if time.process_time() - start > SECONDS:
        return Cell("slow")
    noise = [w for w in heard if _is_noise(w)]
    if noise:
        return Cell("warns", f"{noise[0].category.__name__}: {str(noise[0].message)[:150]}")
    values = [getattr(estimator, n, None) for n in ("scores_", "coef_", "intercept_")]
    if any(v is not None and np.isnan(v).any() for v in values):
        return Cell("NaN")
    wrong = _wrong_results(estimator, later, results)
    return Cell("wrong", wrong) if wrong else Cell("answer")


def _is_noise(warning) -> bool:
    """Warnings that are not ours and not meant for users."""
    if issubclass(warning.category, ConvergenceWarning | UserWarning | FutureWarning):
        return False
    return issubclass(warning.category, RuntimeWarning | DeprecationWarning)


def _wrong_results(estimator: Any, X: Any, results: dict[str, Any]) -> str:
    """What is wrong with what came back; no number may be missing that was there before."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if "predict" in results:
        predicted = np.asarray(results["predict"])
        if predicted.shape != (n,) or not np.isin(predicted, estimator.classes_).all():
            return f"predicts {predicted.shape} values, not {n} of the classes"
    if "transform" not in results:
        return ""
    found = results["transform"]
    if found.shape != (n, int(estimator.support_.sum())):
        return f"transform gives {found.shape}"
    return "" if _n_odd(found) <= _n_odd(X) else "transform gives NaN"


def _n_odd(X: Any) -> int:
    """How many values are NaN or infinite."""
    values = X.data if sparse.issparse(X) and X.format in ("csr", "csc", "coo") else X
    values = values.toarray() if sparse.issparse(values) else values
    values = values.to_numpy(float, na_value=np.nan) if isinstance(X, pd.DataFrame) else values
    return int((~np.isfinite(np.asarray(values, dtype=np.float64))).sum())


ARGUMENTS = r"(?<!\w)(X|y|sample_weight|class_weight|{names})(?!\w)|columns? \(|class \d"


def _refusal(sentence: str, estimator: Any) -> Cell:
    """Refused, if the first sentence names an argument, a column or a class."""
    names = "|".join(map(re.escape, estimator.get_params(deep=False)))
    first = sentence.strip().splitlines()[0]  # scikit-learn explains itself in further lines
    if len(first) < 600 and re.search(ARGUMENTS.format(names=names), first):
        return Cell("refused", first)
    return Cell("no sentence", sentence[:200])


# -- files -------------------------------------------------------------------------------------


METHODS = tuple(all_methods())
SELECTORS = [all_methods()[name].class_name for name in METHODS]
# These meet every kind of file in the tests. `make odd-inputs` runs all methods on one file of a
# kind of input, and these on the same input in other formats, which other readers open.
SOME_METHODS = ("fisher", "ridge-forward", "l0-svm")
SOME_SELECTORS = [all_methods()[name].class_name for name in SOME_METHODS]


def as_files(name: str, folder: Path) -> list[Path]:
    """This kind of input as data files with the target y, as far as formats can hold it.

    The first one is the format that keeps most of it.
    """
    kind, (X, y) = KINDS[name], usual_data()
    if kind.group != "X and y":
        return []
    X, y = kind.make(X, y)
    if y is None or np.ma.isMaskedArray(X) or np.ma.isMaskedArray(y):
        return []
    if hasattr(X, "to_pandas"):  # polars
        X = X.to_pandas()
    if sparse.issparse(X):
        suffixes = [".svm"]
    elif isinstance(X, pd.DataFrame) or isinstance(y, pd.Series):
        suffixes = [".csv", ".parquet"]
    elif isinstance(X, list | np.ndarray):
        suffixes = [".npz", ".csv", ".parquet"]
    else:
        return []
    paths = [folder / f"odd{suffix}" for suffix in suffixes]
    return [path for path in paths if _written(path, X, y)]


def _written(path: Path, X: Any, y: Any) -> bool:
    try:
        if path.suffix == ".svm":
            dump_svmlight_file(sparse.csr_array(X), np.asarray(y), path)
        elif path.suffix == ".npz":
            np.savez(path, X=np.asarray(X), y=np.asarray(y))
        else:
            if not isinstance(X, pd.DataFrame):
                X = np.asarray(X)
                X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
            frame = X.copy()
            frame.insert(frame.shape[1], "y", np.asarray(y).squeeze(), allow_duplicates=True)
            if path.suffix == ".csv":
                frame.to_csv(path, index=False)
            else:
                frame.to_parquet(path, index=False)
    except Exception:  # cannot be written, so it cannot be read
        return False
    return True


def command_line_cell(path: Path, method: str) -> Cell:
    """What ``sparsieve select`` does with a file."""
    out, err = io.StringIO(), io.StringIO()
    target = [] if path.suffix == ".svm" else ["-t", "y"]
    start = time.process_time()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("ignore")
        code = run(["select", str(path), *target, "-k", "1", "--method", method, "-n", "-q"])
    if time.process_time() - start > SECONDS:
        return Cell("slow")
    said = err.getvalue().strip()
    if code == 0 and out.getvalue().strip():
        return Cell("answer")
    if code == 1 and said.startswith("error: ") and "\n" not in said and len(said) < 600:
        return Cell("refused", said.removeprefix("error: "))
    return Cell(f"exit code {code}", said[:200])


def study_cell(path: Path, selectors: list[str]) -> Cell:
    """What a study of a file does: every cell of it is a result or a sentence."""
    target = {} if path.suffix == ".svm" else {"target": "y"}
    store = path.with_suffix(".sqlite")
    store.unlink(missing_ok=True)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = DatasetSpec("odd", file=str(path), **target)
            study = Study("odd", [data], selectors, Folds(2), ks=[1], classifiers=["1nn"])
            run_study(study, store)
        with StoreReader(store) as reader:
            counts, cells = reader.counts("odd"), reader.cells("odd", ["failed"])
    except (ValueError, StudyError, OSError) as error:
        said = " ".join(str(error).split())
        return Cell("refused", said) if len(said) < 600 else Cell("no sentence", said[:200])
    except Exception as error:
        return Cell(type(error).__name__, str(error)[:200])
    if time.process_time() - start > SECONDS * max(1, len(selectors) // 4):
        return Cell("slow")
    raw = [one["error"] for one in cells if not one["error"].startswith(SENTENCES)]
    if raw:
        return Cell("raw error", raw[0][:200])
    failed = sorted({one["error"].partition(": ")[2] for one in cells})
    return Cell("answer" if counts["done"] else "refused", failed[0] if failed else "")
