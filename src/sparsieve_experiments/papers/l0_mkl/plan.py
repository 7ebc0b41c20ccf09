"""How much of the l0-MKL paper's protocol a level computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from ..base import Bench
from ..levels import scales
from ..published import published_by
from .work import is_l1


@dataclass(frozen=True)
class Scale:
    """How much to compute.

    Parameters
    ----------
    sets : tuple of str or None
        Printed names of the data sets; None for all at hand.
    n_repeats : int
        Splits into halves.
    inner_folds : int
        Of the choice of parameters inside the training half.
    Cs, linear_thetas : tuple of float
        Candidates of the linear machines.
    kernels : tuple of (float, float)
        Candidates of a and r in the kernel tanh(a u v - r).
    lambda1s, lambda2s, thetas : tuple of float
        Candidates of the kernel machines.
    ks : tuple of int
        Numbers of features of Figure 1.
    section_thetas : tuple of float
        Of Section 5.2.
    not_as_given : tuple of str
        Printed names of sets on which the printed algorithms run on standardised features only.
    """

    n_repeats: int
    inner_folds: int
    Cs: tuple[float, ...]
    linear_thetas: tuple[float, ...]
    kernels: tuple[tuple[float, float], ...]
    lambda1s: tuple[float, ...]
    lambda2s: tuple[float, ...]
    thetas: tuple[float, ...]
    ks: tuple[int, ...]
    section_thetas: tuple[float, ...]
    not_as_given: tuple[str, ...] = ()
    sets: tuple[str, ...] | None = None

    @property
    def n_kernel_points(self) -> int:
        """Points of the grid of l0-MKL; every set adds the parameters printed for it."""
        strengths = len(self.lambda1s) * len(self.lambda2s)
        return len(self.kernels) * strengths * len(self.thetas)

    @property
    def n_linear_points(self) -> int:
        """Points of the grid of PiE-SVM and CAP-SVM."""
        return len(self.Cs) * len(self.linear_thetas)


SCALES = scales(__package__, Scale)
QUICK, STANDARD, FULL = SCALES.values()


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


def grids(scale: Scale, printed: str) -> dict[str, list[dict]]:
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
