"""Which parameters are tried for the l0-MKL paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..published import published_by
from .work import is_l1


def grids(scale: Any, printed: str) -> dict[str, list[dict]]:
    """The parameters that are tried for every method on one of the paper's sets.

    The printed parameters of the set are always among those that are tried. With weights up to
    one, every theta of at most one makes the capped l1 norm a plain one: it belongs to MIK-FS, and
    only the product of theta and lambda2 counts.
    """
    own = printed_parameters(printed)
    mkl = [
        kernel_parameters(a, r, lambda1, lambda2)
        for (a, r), lambda1, lambda2 in product(scale.kernels, scale.lambda1s, scale.lambda2s)
    ]
    mkl += [{name: value for name, value in own.items() if name != "theta"}]
    capped = [{**setting, "theta": theta} for setting, theta in product(mkl, scale.thetas)]
    capped = [own, *capped, {**own, "theta": 100.0}]  # as printed, and where theta counts features
    linear = [{"C": C, "theta": theta} for C, theta in product(scale.Cs, scale.linear_thetas)]
    plain = [setting for setting in capped if is_l1(setting)]
    return {
        "PiE-SVM": linear,
        "CAP-SVM": linear,
        "EP-SVM": [{"C": C} for C in scale.Cs],
        "MIK-FS": _distinct(mkl) + _distinct(plain, _same_l1),
        "l0-MKL": _distinct([setting for setting in capped if not is_l1(setting)]),
    }


def one_for_each_product(settings: Sequence[dict], printed: str) -> list[dict]:
    """MIK-FS without the pairs of strengths that give the same model as another pair.

    Weights t d and coefficients u / t predict as d and u do, so that with free weights only
    lambda1 times lambda2 counts. Of the pairs with one product the printed one stays, or the one
    whose strengths are nearest to each other. A machine with a theta has a largest weight, and so
    a scale: all of these stay.

    Examples
    --------
    >>> from sparsieve_experiments.papers.l0_mkl.plan import kernel_parameters, one_for_each_product
    >>> pairs = (0.1, 10.0), (1.0, 1.0), (1.0, 10.0)
    >>> pairs = [kernel_parameters(0.1, 0.1, *pair) for pair in pairs]
    >>> [(one["lambda1"], one["lambda2"]) for one in one_for_each_product(pairs, "Colon")]
    [(1.0, 1.0), (1.0, 10.0)]
    """
    own = {name: value for name, value in printed_parameters(printed).items() if name != "theta"}
    free = [setting for setting in settings if "theta" not in setting]
    free.sort(key=lambda one: (one != own, abs(math.log(one["lambda1"] / one["lambda2"]))))
    kept = _distinct(free, _same_product)
    return [one for one in settings if "theta" in one or one in kept]


def _same(setting: dict) -> tuple:
    return tuple(setting.items())


def _same_product(setting: dict) -> tuple:
    """What tells machines of MIK-FS with free weights apart."""
    product_of = float(f"{setting['lambda1'] * setting['lambda2']:.6g}")
    return setting["gamma"], setting["coef0"], product_of


def _same_l1(setting: dict) -> tuple:
    """What tells plain l1 norms apart: kernel, lambda1 and the price of a unit of weight."""
    price = float(f"{setting['theta'] * setting['lambda2']:.6g}")
    return setting["gamma"], setting["coef0"], setting["lambda1"], price


def _distinct(settings: Sequence[dict], identity: Callable[[dict], tuple] = _same) -> list[dict]:
    first: dict[tuple, dict] = {}
    for setting in settings:
        first.setdefault(identity(setting), setting)
    return list(first.values())


def printed_parameters(printed: str) -> dict:
    """What Table 7 prints for a set."""
    row = published_by("l0mkl_table7", "dataset")[printed]
    kernel = kernel_parameters(*(row[name] for name in ("a", "r", "lambda1", "lambda2")))
    return {**kernel, "theta": row["theta"]}


def kernel_parameters(a: float, r: float, lambda1: float, lambda2: float) -> dict:
    """The paper's kernel tanh(a u v - r) and strengths, as our selectors call them."""
    return {"gamma": a, "coef0": -r, "lambda1": lambda1, "lambda2": lambda2}
