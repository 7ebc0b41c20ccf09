"""The parts of a page about chance: claims, and the level of noise."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ...diagnosis import permutation_null
from ...diagnosis.null import PermutationNull, looks_at_target
from ...registry import load_measurements, method_name
from ...selection.claims import Claims
from ...selection.selected_data import SelectedData
from .elements import Chart, Column, Section, Table, correlations_chart, make_chart
from .exploration import MAX_DRAWN
from .wording import end_sentence

_SHUFFLES, _MIN_SHUFFLES = 20, 10
_MEASURED_ON = 100, 20_000  # samples and features that the times of the methods are known for
MEASURED_KEPT = 20  # and how many features were selected


def n_shuffles(selector: Any, X: Any) -> int:
    """How many shuffles take seconds, judged by the method and the size of X, not by the clock.

    Zero where so few are possible that they say nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import FisherSelector, HSICLassoSelector
    >>> from sparsieve.app.report.claims_section import n_shuffles
    >>> X = np.zeros((100, 20_000))
    >>> n_shuffles(FisherSelector(), X), n_shuffles(HSICLassoSelector(), X)
    (20, 0)
    """
    possible = 5.0 / expected_seconds(selector, X)
    return 0 if possible < _MIN_SHUFFLES else min(_SHUFFLES, int(possible))


def expected_seconds(selector: Any, X: Any) -> float:
    """Seconds of a fit by the method and the size of X, the same on every computer."""
    n_samples, n_features = X.shape
    samples, features = _MEASURED_ON
    share = getattr(X, "nnz", n_samples * n_features) / (samples * features)
    # Fits on small data have costs of their own. Some methods compare every two samples; the root
    # is between them and the others.
    by_samples = max(1.0, n_samples / samples) ** 0.5
    return _seconds(selector) * max(share, 0.02) * by_samples


def _seconds(selector: Any) -> float:
    """Seconds of a fit on data of the measured size."""
    known = load_measurements().get(method_name(type(selector).__name__))
    if known is not None:
        return float(known["seconds"])
    members = selector._members() if hasattr(selector, "_members") else []
    if hasattr(selector, "guest_name") or not members:
        return 5.0  # a method that was not measured
    # It fits another selector many times.
    return 100 * max(_seconds(member) for member in members)


def noise_level(
    null: PermutationNull | str | None, kept: SelectedData, groups: Any
) -> tuple[PermutationNull | None, str]:
    """What noise reaches, or a sentence why that cannot be found."""
    if null is None or isinstance(null, PermutationNull):
        return null, ""
    if null != "auto":
        raise ValueError(f'null must be a PermutationNull, "auto" or None, got {null!r}')
    has_scores = hasattr(kept.selector, "scores_") and len(kept.order)
    if not has_scores or not looks_at_target(kept.selector):  # shuffling would change nothing
        return None, ""
    unfitted = kept.clone_selector()
    if not (asked := n_shuffles(unfitted, kept.X)):
        return None, ""
    how = {"n_repeats": asked, "max_seconds": 60.0, "groups": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no p-value can be small: none is shown
        try:
            found = permutation_null(unfitted, kept.X, kept.y, **how)
        except ValueError as error:
            return None, f"The level of noise is not known: {end_sentence(str(error))}"
    return (found if found.n_repeats == asked else None), ""


TITLE = "What can be claimed"
ASSUMED = (
    "A claim holds on average over many data sets, for independent samples: repeated measurements "
    "of a patient, or a batch that nobody recorded, break it. It is about association, not cause. "
    "That the false discovery rate of conditional claims stays below its level was measured on "
    "real data with simulated targets; it is not proven."
)


def claims_section(claims: Claims | None, X: Any) -> Section | None:
    """Claims with their p-values and substitutes; or why there are none, and what would help."""
    if claims is None:
        return None
    text = [
        claims.side_by_side(),
        claims.verdict,
        claims.sample_size_sentence(),
        *claims.weaker_sentences(),
        ASSUMED,
    ]
    charts = [chart for chart in (cluster_chart(claims, X), sample_size_chart(claims)) if chart]
    return Section(TITLE, [one for one in text if one], [*_table(claims), *charts], is_open=True)


def _table(claims: Claims) -> list[Table]:
    if not len(claims.features):
        return []
    found = claims.columns
    is_single = claims.unit == "feature"
    names = Column(
        claims.unit, found["feature"], features=claims.features.tolist() if is_single else None
    )
    selected = set() if claims.selected is None else set(claims.selected.tolist())
    columns = [
        names,
        Column("p-value", found["p_value"], digits=2),
        Column("adjusted p-value", found["p_value_adjusted"], digits=2),
        Column(_measure(claims), claims.all_substitutes()),
    ]
    if claims.selected is not None:
        columns.append(Column("selected for prediction", [j in selected for j in claims.features]))
    note = f"Claimed where the adjusted p-value is at most {claims.level:g}."
    return [Table("Claims", columns, note)]


def _measure(claims: Claims) -> str:
    """Which features are listed beside a claim, and from which correlation on."""
    kind = "correlation" if claims.unit == "feature" else "largest correlation of two columns"
    if claims.found.claim == "set":
        return f"others in its set, the likeliest first ({kind})"
    least = f", {claims.found._settings.least:g} or more"
    return f"substitutes ({kind}{least if claims.found.claim == 'conditional' else ' of 1'})"


def claims_chart(claims: Claims, X: Any) -> Chart | None:
    """The one picture of claims: their clusters, or without any the samples it would take."""
    return cluster_chart(claims, X) or sample_size_chart(claims)


def cluster_chart(claims: Claims, X: Any) -> Chart | None:
    """Every claim with its substitutes: blocks in the correlations of all of them."""
    members = [
        j for claim, others in claims.clusters().items() for j in (claim, *(o for o, _ in others))
    ]
    members = list(dict.fromkeys(members))
    if len(members) < 2 or claims.unit != "feature":  # groups have no one correlation
        return None
    drawn = members[:MAX_DRAWN]
    values = X[:, drawn]
    values = values.toarray() if sparse.issparse(values) else np.asarray(values, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.corrcoef(values, rowvar=False)
    is_claim = set(claims.features.tolist())
    names = [f"{claims.names[j]} (claim)" if j in is_claim else str(claims.names[j]) for j in drawn]
    first = f" The first {len(drawn)} of {len(members):,} are drawn." * (len(drawn) < len(members))
    is_set = claims.found.claim == "set"
    block = "the set of a claim" if is_set else "a claim with its substitutes"
    return correlations_chart(
        f"Claims and their {'sets' if is_set else 'substitutes'}",
        correlation,
        names,
        f"A block is {block}: the data say that one of them matters, not which.{first}",
    )


def sample_size_chart(claims: Claims) -> Chart | None:
    """Which correlation is found with how many samples."""
    points = claims.curve()
    if len(points) < 2:
        return None
    return make_chart(
        "How many samples would it take?",
        "lines",
        points,
        {"x": "number of samples", "y": "correlation found in 4 of 5 cases"},
        f"Among {claims.found.n_tested_:,} {claims.unit}s at a false discovery rate of "
        f"{100 * claims.level:.3g} %: the correlation with y{claims._condition_phrase} that a "
        f"{claims.unit} "
        f"needs. The dashed line marks these {claims.n_samples:,} samples. For a single "
        f"{claims.unit} that matters, with the {claims.unit}s taken into account here.",
        digits={"y": 3},
        log_x=True,
        marker=claims.n_samples,
        marker_name="samples here",
    )
