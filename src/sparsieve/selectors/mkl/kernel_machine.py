"""A fitted machine with one kernel per feature, cut down to the features it uses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kernels import KernelBank
from ...solvers.mkl.model import MKLModel, MKLResult
from ...solvers.mkl.weights import KernelWeights


@dataclass(frozen=True)
class FittedKernelMachine:
    """f(x) = sum_m d_m sum_i beta_i k(x_im, x_m) + intercept.

    ``model`` is the problem on the used features alone, of which there are few; ``weights``
    names features of the whole data, in the order of the model's bank.
    """

    model: MKLModel
    weights: KernelWeights
    beta: np.ndarray
    intercept: float

    @classmethod
    def of(cls, model: MKLModel, result: MKLResult) -> FittedKernelMachine:
        """Keep what the result needs of the model."""
        bank = model.bank
        small = KernelBank(
            bank.values[result.weights.features],
            bank.kernel,
            bank.weights,
            centred=bank.centred,
            max_memory=bank.max_memory,
        )
        return cls._assemble(replace(model, bank=small), result.weights, result.machine)

    def at(self, support: np.ndarray) -> FittedKernelMachine:
        """Without the unselected features, the coefficients solved again for the others."""
        kept = support[self.weights.features]
        if kept.all():
            return self
        bank = self.model.bank
        model = replace(
            self.model,
            bank=KernelBank(
                bank.values[kept],
                bank.kernel,
                bank.weights,
                centred=bank.centred,
                max_memory=bank.max_memory,
            ),
        )
        inside = KernelWeights(np.arange(int(kept.sum())), self.weights.d[kept], 0.0)
        machine = model.coefficients(inside)
        weights = replace(inside, features=self.weights.features[kept])
        return self._assemble(model, weights, machine)

    @classmethod
    def _assemble(cls, model, weights, machine) -> FittedKernelMachine:
        """Coefficients of the plain kernel: its coefficients sum to zero where it was centred."""
        beta = model.bank.roots * machine.u
        fitted = cls(model, weights, beta, machine.bias)
        if not model.bank.centred:
            return fitted
        plain = fitted.margins(model.bank.values) - machine.bias
        mean = float(np.average(plain, weights=model.bank.weights))
        return replace(fitted, intercept=machine.bias - mean)

    def margins(self, values: np.ndarray) -> np.ndarray:
        """Values of f for samples given by their used features, one per row."""
        everything = np.arange(len(self.weights.d))
        return self.intercept + self.model.bank.cross(everything, self.weights.d, values, self.beta)
