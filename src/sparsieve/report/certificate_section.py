"""The panel of a report that says how good a selection is next to the best possible one."""

from __future__ import annotations

from typing import Any

from .elements import Section, chart_of


def certified(selector: Any, X: Any, y: Any, asked: bool) -> Any:
    """The certificate of a fitted selector, proven now if asked for; None without one."""
    found = getattr(selector, "certificate_", None)
    if found is not None or not asked:
        return found
    if not hasattr(selector, "certify"):
        raise ValueError(
            f"nothing can be proven about the selections of {type(selector).__name__}; "
            "RidgeForwardSelector and L20Selector can be certified, or pass certify=False"
        )
    return selector.certify(X, y)


def certificate_section(certificate: Any, n_kept: int, unit: str = "feature") -> Section | None:
    """Objective and proven bound over the number of features."""
    if certificate is None or len(certificate.n_features) == 0:
        return None
    sizes = certificate.n_features.tolist()
    text = [
        certificate.sentence(n_kept if n_kept in sizes else None),
        "The proof is about the training objective (squared error plus ridge penalty), not about "
        "accuracy on new samples. A wide gap means that better features may exist, or that the "
        "bound is weak, as it is with a small ridge penalty.",
    ]
    curves = {
        "this selection": certificate.objective,
        "lower bound for any selection": certificate.lower_bound,
    }
    shares = certificate.share.tolist()
    chart = chart_of(
        "Training objective and its proven lower bound",
        "lines",
        [
            (*point, name)
            for name, curve in curves.items()
            for point in zip(sizes, curve.tolist(), shares, strict=True)
        ],
        {
            "x": f"number of {unit}s",
            "y": "training objective",
            "share": "share of the best set's fit, at least",
            "series": "",
        },
        "The closer the two lines, the less another set of the same size could improve.",
        digits={"y": 6},
        log_x=max(sizes) > 20,
    )
    return Section("How good is this selection?", text, [chart])
