"""For authors of selectors: the base class, and the checks that a selector has to pass."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils import get_tags

from ._checks import check_choice
from .registry import selector_name
from .selectors.base import BaseSelector, FeatureScores
from .selectors.methods import as_selector, seed_selector

__all__ = ["BaseSelector", "FeatureScores", "check_selector"]

Check = Callable[[BaseSelector], None]
_MAX_MESSAGE_LETTERS = 600  # a message that is longer is no sentence


class Skipped(Exception):
    """A check does not concern this selector, and why."""


def check_selector(selector: Any, *, on_fail: str | None = "raise") -> list[dict[str, Any]]:
    """Check that a selector does what ``select``, ``compare`` and reports rely on.

    Runs scikit-learn's ``check_estimator`` and checks of this package: that ``at`` gives as many
    features as asked for, that scores, ranking and support agree, that names of features survive,
    that copies, pickles, float32, sparse data, and features in another order select the same, that
    constant features come last, and that bad input is refused in a sentence.

    Parameters
    ----------
    selector : estimator, class or function
        A selector of your own, or whatever else :class:`~sparsieve.SelectorAdapter` takes.
    on_fail : {"raise", "warn"} or None, default="raise"
        Whether a check that fails raises an AssertionError, warns, or is only reported in what is
        returned.

    Returns
    -------
    results : list of dict
        For every check ``check_name``, ``status`` ("passed", "failed" or "skipped") and
        ``exception``, as ``check_estimator`` returns them.

    See Also
    --------
    sparsieve.BaseSelector : Base of a selector of your own.
    sparsieve.SelectorAdapter : Takes estimators and functions as they are.

    Examples
    --------
    >>> from sparsieve import FisherSelector, check_selector
    >>> results = check_selector(FisherSelector())
    >>> {result["status"] for result in results} <= {"passed", "skipped"}
    True
    """
    from sklearn.utils import estimator_checks  # slow, and fails in some installations of 1.6

    if on_fail is not None:
        check_choice("on_fail", on_fail, ("raise", "warn"))
    found = seed_selector(clone(as_selector(selector)), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        results = estimator_checks.check_estimator(found, on_skip=None, on_fail=None)
    results = [{k: one[k] for k in ("check_name", "status", "exception")} for one in results]
    for check in OWN_CHECKS:
        results.append({"check_name": check.__name__, **_outcome(check, found)})
    for result in results:
        if result["status"] == "failed" and on_fail is not None:
            said = " ".join(str(result["exception"]).split()) or type(result["exception"]).__name__
            sentence = f"{selector_name(found)} fails {result['check_name']}: {said}"
            if on_fail == "raise":
                raise AssertionError(sentence) from result["exception"]
            warnings.warn(sentence, stacklevel=2)
    return results


def _outcome(check: Check, selector: BaseSelector) -> dict[str, Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(selector)
    except Skipped as why:
        return {"status": "skipped", "exception": why}
    except Exception as error:
        return {"status": "failed", "exception": error}
    return {"status": "passed", "exception": None}


def _require(holds: Any, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


# -- data ----------------------------------------------------------------------------------------


def _data(selector: BaseSelector) -> tuple[np.ndarray, np.ndarray]:
    """Five features that differ clearly in what they say, out of eight; none is negative."""
    rng = np.random.default_rng(5)
    effects = np.array([0, 1.6, 0, 0.9, 2.6, 0, 1.2, 2.0])
    y = np.repeat([0, 1], 18)
    X = rng.standard_normal((36, 8)) + y[:, None] * effects
    X = X - X.min()
    if selector._needs_numbers:
        return X, X @ effects + 0.1 * rng.standard_normal(36)
    return X, y


def _fit(selector: BaseSelector, X: Any, y: Any, k: Any = 3) -> Any:
    return clone(selector).set_params(n_features_to_select=k).fit(X, y)


def _takes_number(selector: BaseSelector) -> None:
    if "n_features_to_select" not in selector.get_params(deep=False):
        raise Skipped("it chooses the number of features itself")


def _is_random(selector: BaseSelector) -> bool:
    return any(name.rpartition("__")[2] == "random_state" for name in selector.get_params())


def _same(found: Any, wanted: Any, why: str, *, rtol: float, order: Any = slice(None)) -> None:
    """Scores within a share of the largest, and the same support, columns put in this order."""
    finite = np.isfinite(wanted.scores_)
    size = float(np.abs(wanted.scores_[finite]).max(initial=0.0)) or 1.0
    difference = np.abs(found.scores_[finite[order]] - wanted.scores_[order][finite[order]])
    _require(
        difference.max(initial=0.0) <= rtol * size,
        f"scores_ differ by {difference.max(initial=0.0) / size:.2g} of the largest {why}",
    )
    _require(
        np.array_equal(found.support_, wanted.support_[order]), f"other features are kept {why}"
    )


# -- checks --------------------------------------------------------------------------------------


def check_scores_ranking_and_support(selector: BaseSelector) -> None:
    """Scores are numbers, ranks are 1 to d, support is the first k of them."""
    _takes_number(selector)
    X, y = _data(selector)
    fitted, d = _fit(selector, X, y), X.shape[1]
    _require(np.shape(fitted.scores_) == (d,), "scores_ does not hold one number for every feature")
    _require(not np.isnan(fitted.scores_).any(), "scores_ holds NaN")
    _require(
        sorted(fitted.ranking_) == list(range(1, d + 1)),
        f"ranking_ does not hold every rank from 1 to {d} once",
    )
    _require(fitted.support_.sum() == 3, "n_features_to_select=3 does not keep 3 features")
    _require(
        np.array_equal(fitted.support_, fitted.ranking_ <= 3),
        "support_ is not made of the features with the best ranks",
    )
    entered = 0
    if fitted.n_ranked_ < d:  # a path: in the order of entry, whatever the gains were
        entered = len(fitted.path_.supports[3]) if hasattr(fitted, "path_") else 3
    falling = fitted.scores_[np.argsort(fitted.ranking_)[entered:]]
    _require((np.diff(falling) <= 0).all(), "a feature ranks before one with a larger score")


def check_score_meaning(selector: BaseSelector) -> None:
    """``score_meaning`` is a sentence."""
    meaning = selector.fit(*_data(selector)).score_meaning
    _require(
        len(meaning) > 20 and meaning.endswith("."),
        f"score_meaning must be a sentence for readers of scores_, got {meaning!r}",
    )


def check_other_counts(selector: BaseSelector) -> None:
    """``at`` gives other numbers as far as the fit went, and leaves the original as it is."""
    _takes_number(selector)
    X, y = _data(selector)
    fitted = _fit(selector, X, y, 4)
    for k, count in [(1, 1), (0.25, 2), (4, 4), (6, 6), (8, 8)]:
        if count > fitted.n_ranked_:
            _check_refusal(partial(fitted.at, k), f"at({k}), beyond n_ranked_,")
            continue
        kept = int(fitted.at(k).get_support().sum())
        _require(kept == count, f"at({k}) keeps {kept} of 8 features")
    _require(
        fitted.support_.sum() == 4 and fitted.n_features_to_select == 4,
        "at() changes the selector that it is called of",
    )


def check_smaller_counts(selector: BaseSelector) -> None:
    """Fewer features are some of more features, or what a fit for that number gives."""
    _takes_number(selector)
    X, y = _data(selector)
    fitted = selector.reaching(4).fit(X, y)
    few, more = fitted.at(2).support_, fitted.at(4).support_
    _require(
        (few <= more).all() or np.array_equal(few, _fit(selector, X, y, 2).support_),
        "at(2) holds features that are neither in at(4) nor kept by a fit for 2 features",
    )


def check_reaching(selector: BaseSelector) -> None:
    """``reaching(k)`` is an unfitted copy whose fit can be asked for k features."""
    _takes_number(selector)
    far = selector.reaching(5)
    _require(far is not selector, "reaching() returns the selector itself instead of a copy")
    _require(not hasattr(far, "support_"), "reaching() returns a fitted selector")
    fitted = far.fit(*_data(selector))
    _require(fitted.n_ranked_ >= 5, f"reaching(5) ranks only {fitted.n_ranked_} features")


def check_feature_names(selector: BaseSelector) -> None:
    """Names of the columns of a data frame come out as they went in."""
    try:
        import pandas as pd
    except ImportError:
        raise Skipped("pandas is not installed") from None
    X, y = _data(selector)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(8)])
    fitted = clone(selector).set_output(transform="pandas").fit(frame, y)
    _require(
        list(getattr(fitted, "feature_names_in_", [])) == list(frame.columns),
        "feature_names_in_ does not hold the columns of the data frame",
    )
    kept = fitted.transform(frame)
    wanted = [name for name, is_kept in zip(frame, fitted.support_, strict=True) if is_kept]
    _require(list(kept.columns) == wanted, "set_output loses or changes the names of features")
    _require(
        list(fitted.get_feature_names_out()) == wanted,
        "get_feature_names_out() does not name the features that are kept",
    )


def check_copies(selector: BaseSelector) -> None:
    """Clones have the same parameters, pickles the same selection, and X is left alone."""
    X, y = _data(selector)
    before = X.copy()
    fitted = clone(selector).fit(X, y)
    _require(np.array_equal(X, before), "fit changes X")
    _require(repr(clone(fitted)) == repr(selector), "a clone has other parameters")
    _require(not hasattr(clone(fitted), "support_"), "a clone is fitted")
    try:
        loaded = pickle.loads(pickle.dumps(fitted))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(f"it cannot be pickled: {error}") from None
    _require(
        np.array_equal(loaded.transform(X), fitted.transform(X)),
        "a pickled selector keeps other features",
    )


def check_same_answer_twice(selector: BaseSelector) -> None:
    """The same data and the same seed give the same scores."""
    X, y = _data(selector)
    first, second = (clone(selector).fit(X, y) for _ in range(2))
    same = np.array_equal(first.scores_, second.scores_)
    _require(
        same and np.array_equal(first.ranking_, second.ranking_),
        "two fits to the same data differ; take what is random from a parameter random_state",
    )


def check_float32(selector: BaseSelector) -> None:
    """Half the precision selects the same features and stays half the precision."""
    _takes_number(selector)
    X, y = _data(selector)
    X = X.astype(np.float32)
    found, wanted = _fit(selector, X, y), _fit(selector, X.astype(np.float64), y)
    _same(found, wanted, "with float32", rtol=1e-2)
    made = [found.transform(X), getattr(found, "coef_", X)]
    _require(all(one.dtype == np.float32 for one in made), "float32 becomes another type")


def check_sparse_is_dense(selector: BaseSelector) -> None:
    """A sparse matrix selects what the same dense one does, and stays sparse."""
    _takes_number(selector)
    if not get_tags(selector).input_tags.sparse:
        raise Skipped("it takes dense data only")
    X, y = _data(selector)
    X = np.where(np.median(X) < X, X, 0.0)
    wanted = _fit(selector, X, y)
    for made in (sparse.csr_array(X), sparse.csc_array(X)):
        found = _fit(selector, made, y)
        _same(found, wanted, f"with {made.format.upper()}", rtol=1e-3)
        _require(sparse.issparse(found.transform(made)), "transform makes sparse data dense")


def check_order_of_features(selector: BaseSelector) -> None:
    """Columns in another order are the same features."""
    _takes_number(selector)
    if _is_random(selector):
        raise Skipped("it draws at random, by the places of features or samples")
    X, y = _data(selector)
    order = np.array([3, 7, 0, 5, 1, 6, 2, 4])
    wanted, found = _fit(selector, X, y), _fit(selector, X[:, order], y)
    _same(found, wanted, "when columns change places", rtol=1e-3, order=order)


def check_constant_features(selector: BaseSelector) -> None:
    """Features without any information are kept last."""
    _takes_number(selector)
    X, y = _data(selector)
    X = np.hstack([np.full((len(X), 1), 3.0), X, np.zeros((len(X), 1))])
    fitted = _fit(selector, X, y, 8)
    _require(not np.isnan(fitted.scores_).any(), "a constant feature gets the score NaN")
    _require(not fitted.support_[[0, -1]].any(), "a constant feature ranks before one that varies")


def check_bad_input(selector: BaseSelector) -> None:
    """What cannot be used is refused in a sentence."""
    X, y = _data(selector)
    tags, odd = get_tags(selector), X.copy()
    odd[2, 3] = np.nan
    cases: dict[str, tuple[Any, Any]] = {
        "X without samples": (X[:0], y[:0]),
        "X of one dimension": (X[:, 0], y),
        "X of text": (np.full(X.shape, "a", dtype=object), y),
    }
    if not tags.input_tags.allow_nan:
        cases["X with NaN"] = odd, y
    if tags.target_tags.required:
        cases |= {"y of another length": (X, y[:-1]), "no y": (X, None)}
        if not selector._needs_numbers:
            cases["y of one class"] = X, np.zeros(len(y), dtype=int)
    for case, (bad_X, bad_y) in cases.items():
        _check_refusal(partial(clone(selector).fit, bad_X, bad_y), case)
    if "n_features_to_select" in selector.get_params(deep=False):
        for count in (0, 1.5, "five"):
            _check_refusal(partial(_fit, selector, X, y, count), f"n_features_to_select={count!r}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            kept = int(_fit(selector, X, y, 9).get_support().sum())
        _require(kept == 8, f"n_features_to_select=9 keeps {kept} of 8 features instead of all")


def _check_refusal(call: Callable[[], Any], case: str) -> None:
    try:
        call()
    except (ValueError, TypeError) as error:
        _require(
            10 < len(str(error)) < _MAX_MESSAGE_LETTERS,
            f"{case} is refused, but not in a sentence: {error}",
        )
        return
    raise AssertionError(f"{case} is not refused by a ValueError")


OWN_CHECKS: tuple[Check, ...] = (
    check_scores_ranking_and_support,
    check_score_meaning,
    check_other_counts,
    check_smaller_counts,
    check_reaching,
    check_feature_names,
    check_copies,
    check_same_answer_twice,
    check_float32,
    check_sparse_is_dense,
    check_order_of_features,
    check_constant_features,
    check_bad_input,
)
