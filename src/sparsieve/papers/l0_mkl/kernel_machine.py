"""A fitted machine with one kernel per feature, cut down to the features it uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ..._saved import Floats, Savable
from .alternating_dca import MKLModel, SparseKernelMachine
from .kernel_svm import KernelMachine
from .kernel_weights import KernelWeights
from .kernels import KernelBank
from .published import PublishedMKLModel

BIAS_ROUNDING = 1e-12


@dataclass(frozen=True)
class FittedKernelMachine(Savable):
    """f(x) = sum_m d_m sum_i beta_i k(x_im, x_m) + intercept.

    ``model`` is the problem on the used features alone, of which there are few; ``weights``
    names features of the whole data, in the order of the model's bank.
    """

    model: Annotated[MKLModel, "samples", "features"]
    weights: Annotated[KernelWeights, "features"]
    beta: Annotated[Floats, "samples"]
    intercept: float

    @classmethod
    def from_model(cls, model: MKLModel, found: SparseKernelMachine) -> FittedKernelMachine:
        """Keep what the machine needs of the model."""
        small = replace(model, bank=_part(model.bank, found.weights.features))
        return cls._assemble(small, found.weights, KernelMachine(found.u, found.weights.bias))

    def among(self, places: np.ndarray) -> FittedKernelMachine:
        """The same with its features at these places of wider data."""
        weights = replace(self.weights, features=places[self.weights.features])
        return replace(self, weights=weights)

    def restrict(self, support: np.ndarray) -> FittedKernelMachine:
        """Without the unselected features, the coefficients solved again for the others.

        The published method keeps its coefficients: solved again, they might have no end.
        """
        kept = np.flatnonzero(support[self.weights.features])
        if len(kept) == len(self.weights.d):
            return self
        model = replace(self.model, bank=_part(self.model.bank, kept))
        weights = replace(
            self.weights, features=self.weights.features[kept], d=self.weights.d[kept]
        )
        if isinstance(model, PublishedMKLModel):
            return replace(self, model=model, weights=weights)
        inside = replace(weights, features=np.arange(len(kept)))
        return self._assemble(model, weights, model.coefficients(inside).solution)

    @classmethod
    def _assemble(
        cls, model: MKLModel, weights: KernelWeights, machine: KernelMachine
    ) -> FittedKernelMachine:
        """Coefficients of the plain kernel: its coefficients sum to zero where it was centred."""
        beta = model.bank.roots * machine.u
        # Margins are of the order of one: a smaller bias is zero, and its sign is rounding.
        bias = machine.bias if abs(machine.bias) > BIAS_ROUNDING else 0.0
        fitted = cls(model, weights, beta, bias)
        if not model.bank.centred:
            return fitted
        plain = fitted.margins(model.bank.values) - bias
        mean = float(np.average(plain, weights=model.bank.weights))
        return replace(fitted, intercept=bias - mean)

    def margins(self, values: np.ndarray) -> np.ndarray:
        """Values of f for samples given by their used features, one per row."""
        everything = np.arange(len(self.weights.d))
        return self.intercept + self.model.bank.cross(everything, self.weights.d, values, self.beta)


def _part(bank: KernelBank, features: np.ndarray) -> KernelBank:
    """The bank of a few features."""
    return KernelBank(
        bank.values[features],
        bank.kernel,
        bank.weights,
        centred=bank.centred,
        max_memory=bank.max_memory,
    )
