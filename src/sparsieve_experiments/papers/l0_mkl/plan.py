"""Which parameters are tried for the l0-MKL paper."""

from __future__ import annotations

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


def _same(setting: dict) -> tuple:
    return tuple(setting.items())


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
