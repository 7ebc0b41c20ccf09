"""One kernel matrix per feature, never all of them at once unless they fit the memory given."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.polynomial.chebyshev import chebval

from ..._saved import Floats, Savable
from .kernels import CombinedKernel, Expansion, FactoredKernels, FeatureKernel, expand

# Kernel matrices are evaluated in blocks of about this many bytes.
BLOCK_BYTES = 1 << 22
# Radii are rounded up to this geometric grid, so that features share expansions.
RADIUS_STEP = 1.15
# Polynomials of so many values at a time stay in the cache.
CACHED_NUMBERS = 1 << 14
# Polynomials whose span gives lower bounds of shifts: within some percent of most of them.
N_TRIAL_POLYNOMIALS = 6
# Squares and differences of such values are still far from overflowing.
MAX_MAGNITUDE = 1e100


class KernelBank(Savable):
    """The matrices A_m = S H K_m H' S of all features m, known by what they do.

    K_m holds the kernel between the values of feature m in all pairs of samples. With sample
    weights w, H = I - 1 w' / sum(w) centres (every column of H K has weighted mean zero) and
    S = diag(sqrt(w)). A sample of weight two then counts exactly as the sample given twice:
    the nonzero eigenvalues of A_m, and all products with it, are those of the repeated data.

    Products with all matrices use a separable expansion where the kernel has a short one on
    the range of a feature; otherwise matrices held in memory if all fit ``max_memory`` bytes,
    and evaluated block by block if they do not.

    Parameters
    ----------
    values : ndarray of shape (n_features, n_samples)
        One feature per row, in double precision.
    kernel : FeatureKernel
    weights : ndarray of shape (n_samples,) or None
    centred : bool
        False leaves H out.
    max_memory : int
        Maximum memory for kernel matrices, in bytes.
    """

    values: Annotated[Floats, "features", "samples"]
    kernel: FeatureKernel
    weights: Annotated[np.ndarray, np.float64, "samples"]
    centred: bool
    max_memory: int

    def __init__(
        self,
        values: np.ndarray,
        kernel: FeatureKernel,
        weights: np.ndarray | None = None,
        *,
        centred: bool = True,
        max_memory: int = 256 << 20,
    ):
        self.values = np.ascontiguousarray(values, dtype=np.float64)
        self.n_features: int = self.values.shape[0]
        self.n_samples: int = self.values.shape[1]
        self.kernel = kernel
        self.weights = np.ones(self.n_samples) if weights is None else weights
        self.roots: np.ndarray = np.sqrt(self.weights)
        self.centred = centred
        self.max_memory = max_memory
        self._check_sizes()
        self._shifts = np.full(self.n_features, 0.0 if kernel.semidefinite else np.nan)
        self._least = np.zeros(self.n_features)  # lower bounds of the shifts
        self._is_bounded = np.full(self.n_features, kernel.semidefinite)
        self._plan_expansions()
        self._held: np.ndarray | None = None
        self._recent: dict[int, np.ndarray] = {}
        self._factored: tuple[np.ndarray, FactoredKernels] | None = None

    # -- all features at once ------------------------------------------------------------

    def apply(self, u: np.ndarray, features: np.ndarray | None = None) -> np.ndarray:
        """A_m u of every feature, or of those named, one in each row."""
        beta = self.roots * u
        if self.centred:
            beta = beta - self.weights * (beta.sum() / self.weights.sum())
        place = np.arange(self.n_features)
        if features is not None:
            place = np.full(self.n_features, -1)
            place[features] = np.arange(len(features))
        out = np.empty((int((place >= 0).sum()), self.n_samples))
        if self._groups:
            from ._kernels import apply_expansion

            for expansion, members in self._groups:
                members = members[place[members] >= 0]
                size = len(expansion.coefficients)
                apply_expansion(
                    self.values,
                    members,
                    self._middle,
                    expansion.radius,
                    expansion.coefficients,
                    beta,
                    out,
                    place[members],
                    np.ones((size, self.n_samples)),
                    np.empty(size),
                )
        asked = np.flatnonzero(place[self._rest] >= 0)
        rows = place[self._rest[asked]]
        held = self._held_rest() if len(asked) else None
        if held is not None:
            if len(asked) == len(held):
                out[rows] = (held.reshape(-1, self.n_samples) @ beta).reshape(len(held), -1)
            else:  # one by one, which copies no matrix
                for matrix, row in zip(asked.tolist(), rows.tolist(), strict=True):
                    np.dot(held[matrix], beta, out=out[row])
        elif len(asked):
            for start, block in self._blocks(self._rest[asked]):
                product = block.reshape(-1, self.n_samples) @ beta
                out[rows[start : start + len(block)]] = product.reshape(len(block), -1)
        return _finite(self._finish(out))

    def combine(self, features: np.ndarray, weights: np.ndarray, keep: bool = True) -> np.ndarray:
        """sum_m weights_m A_m over these features.

        Their matrices are kept for the next combination if they fit; the few features of a
        sparse model hardly change from one to the next.
        """
        total = np.zeros((self.n_samples, self.n_samples))
        if keep and self._fits(len(features)):
            self._recent = {m: self._recent[m] for m in features.tolist() if m in self._recent}
            new = np.array([m for m in features.tolist() if m not in self._recent], dtype=np.int64)
            for start, block in self._blocks(new):
                names = new[start : start + len(block)].tolist()
                self._recent.update(zip(names, block, strict=True))
            for m, weight in zip(features.tolist(), weights, strict=True):
                total += weight * self._recent[m]
        else:
            pairs = np.tril_indices(self.n_samples)
            half = np.zeros(len(pairs[0]))
            step = max(1, BLOCK_BYTES // (8 * len(half)))
            for start in range(0, len(features), step):
                rows = self.values[features[start : start + step]]
                half += weights[start : start + step] @ self.kernel(
                    rows[:, pairs[0]], rows[:, pairs[1]]
                )
            total[pairs] = total.T[pairs] = half
        return _finite(self._dress(total[None])[0])

    def combine_directions(
        self, features: np.ndarray, weights: np.ndarray, keep: bool = True
    ) -> CombinedKernel:
        """The same sum, in the directions that its expansions reach where these are few.

        ``features`` are in rising order. A basis serves for any part of its features that is no
        less than half of them.
        """
        if not len(features) or 2 * self.ranks[features].sum() > self.n_samples:
            return CombinedKernel(self.combine(features, weights, keep))
        held = self._factored
        if held is None or 2 * len(features) < len(held[0]) or not np.isin(features, held[0]).all():
            parts = [self._groups[self._group_of[m]][0] for m in features]
            factors = [self._factors(features[[k]], one)[0] for k, one in enumerate(parts)]
            kernels = FactoredKernels(factors, [one.spectrum[0] for one in parts])
            held = self._factored = features, kernels
        return held[1].combine(np.searchsorted(held[0], features), weights)

    def shifts(self, features: np.ndarray) -> np.ndarray:
        """max(0, -smallest eigenvalue of A_m): what makes A_m + shift I semidefinite.

        Computed when first asked for and remembered.
        """
        missing = features[np.isnan(self._shifts[features])]
        if not len(missing):
            return self._shifts[features]
        for expansion, members in self._groups:
            if 2 * len(expansion.spectrum[0]) > self.n_samples:
                continue
            inside = missing[np.isin(missing, members, assume_unique=True)]
            if len(inside):
                self._shifts[inside] = self._expanded_shifts(inside, expansion)
        missing = missing[np.isnan(self._shifts[missing])]
        for start, block in self._blocks(missing):
            smallest = np.linalg.eigvalsh(_finite(self._dress(block)))[:, 0]
            self._shifts[missing[start : start + len(block)]] = np.maximum(0.0, -smallest)
        return self._shifts[features]

    def least_shifts(self, features: np.ndarray) -> np.ndarray:
        """Lower bounds of these shifts, at a fraction of their cost; exact where known."""
        missing = features[~self._is_bounded[features]]
        if len(missing):
            self._is_bounded[missing] = True
            for expansion, members in self._groups:
                inside = members[np.isin(members, missing, assume_unique=True)]
                if len(inside):
                    self._least[inside] = self._tried_shifts(inside, expansion)
        return self.known_shifts()[features]

    def known_shifts(self) -> np.ndarray:
        """Lower bounds of all shifts as far as they were asked for; zero for the others."""
        return np.where(np.isnan(self._shifts), self._least, self._shifts)

    def has_shifts(self, features: np.ndarray) -> bool:
        """Whether the shifts of all these features have been computed."""
        return not np.isnan(self._shifts[features]).any()

    # -- other samples -------------------------------------------------------------------

    def cross(
        self, features: np.ndarray, weights: np.ndarray, values: np.ndarray, beta: np.ndarray
    ) -> np.ndarray:
        """sum_m weights_m sum_i beta_i k(x_im, values_m) for other samples, plain kernels.

        ``values`` has one row per feature of ``features``.
        """
        out = np.zeros(values.shape[1])
        for row, m, weight in zip(values, features, weights, strict=True):
            apart = np.ones(len(row), dtype=bool)
            if self._group_of[m] >= 0:
                expansion = self._groups[self._group_of[m]][0]
                sums = expansion.sums(self.values[[m]] - self._middle[m], beta, expansion.size)[0]
                x = (row - self._middle[m]) / expansion.radius
                apart = np.abs(x) > 1.0  # where the expansion says nothing
                out[~apart] += weight * chebval(x[~apart], expansion.coefficients @ sums)
            others = np.flatnonzero(apart)
            step = max(1, BLOCK_BYTES // (8 * self.n_samples))
            for start in range(0, len(others), step):
                part = others[start : start + step]
                kernels = self.kernel(row[part, None], self.values[m][None, :])
                out[part] += weight * (kernels @ beta)
        return out

    # -- inside --------------------------------------------------------------------------

    def _check_sizes(self) -> None:
        largest, heaviest = float(np.abs(self.values).max(initial=0.0)), float(self.weights.max())
        if not largest <= MAX_MAGNITUDE:
            raise ValueError(
                f"X has values of up to {largest:.3g}, too large for kernels of single features; "
                "use standardize=True or rescale X"
            )
        if not heaviest <= MAX_MAGNITUDE:
            raise ValueError(
                f"sample_weight times class_weight reaches {heaviest:.3g}, which is too large; "
                "divide the weights by their mean"
            )

    def _plan_expansions(self) -> None:
        """Group the features by the size of their values; find each group's expansion."""
        low, high = self.values.min(axis=1), self.values.max(axis=1)
        movable = self.kernel.shift_invariant
        self._middle = 0.5 * (low + high) if movable else np.zeros(self.n_features)
        radii = np.maximum(high - self._middle, self._middle - low)
        level = np.ceil(np.log(np.maximum(radii, 1e-3)) / np.log(RADIUS_STEP)).astype(int)
        groups: list[tuple[Expansion | None, np.ndarray]] = []
        for one in np.unique(level):
            members = np.flatnonzero(level == one)
            # Longer than this, an expansion costs more than a matrix held in memory.
            radius = RADIUS_STEP ** float(one)
            groups.append((expand(self.kernel, radius, self.n_samples // 2), members))
        if not self._fits(sum(len(members) for found, members in groups if found is None)):
            # Evaluating a matrix anew costs some twenty times as much as multiplying with it.
            for k, (found, members) in enumerate(groups):
                if found is None:
                    radius = RADIUS_STEP ** float(level[members[0]])
                    groups[k] = expand(self.kernel, radius, 4 * self.n_samples), members
        self._groups = [(found, members) for found, members in groups if found is not None]
        rest = [members for found, members in groups if found is None]
        self._rest = np.sort(np.concatenate(rest)) if rest else np.empty(0, dtype=np.int64)
        # Outer products that a matrix is the sum of; as many as samples without an expansion.
        self.ranks: np.ndarray = np.full(self.n_features, self.n_samples)
        self._group_of = np.full(self.n_features, -1)
        for k, (expansion, members) in enumerate(self._groups):
            self.ranks[members] = len(expansion.spectrum[0])
            self._group_of[members] = k

    def _factors(self, features: np.ndarray, expansion: Expansion) -> np.ndarray:
        """F with A_m = F diag(spectrum) F' of these features of one expansion."""
        basis = expansion.polynomials(self.values[features] - self._middle[features, None])
        basis = basis @ expansion.spectrum[1]
        if self.centred:
            basis -= (self.weights @ basis / self.weights.sum())[:, None, :]
        basis *= self.roots[:, None]
        return basis

    def _expanded_shifts(self, features, expansion: Expansion) -> np.ndarray:
        """With A_m = F D F' and F = Q R, the eigenvalues are those of R D R'."""
        found = np.empty(len(features))
        step = max(1, BLOCK_BYTES // (8 * self.n_samples * expansion.size))
        for start in range(0, len(features), step):
            factors = self._factors(features[start : start + step], expansion)
            triangle: np.ndarray = np.linalg.qr(factors, mode="r")  # type: ignore[assignment]
            small = (triangle * expansion.spectrum[0]) @ triangle.transpose(0, 2, 1)
            found[start : start + step] = np.linalg.eigvalsh(small)[:, 0]
        return np.maximum(0.0, -found)

    def _tried_shifts(self, features, expansion: Expansion) -> np.ndarray:
        """Lower bounds: what the span of the first polynomials sees of the smallest eigenvalue.

        A_m = B C B' for the (centred) polynomials B, and with v = B_1 x of the first ones
        v'A_m v = x'G_1 C G_1'x and |v|^2 = x'G_11 x, where G = B'B. Twice the product of two
        polynomials is the sum of two others, so sums of polynomials give all of G_1.
        """
        first = np.arange(1 if self.centred else 0, min(N_TRIAL_POLYNOMIALS + 1, expansion.size))
        if not len(first):
            return np.zeros(len(features))
        every = np.arange(expansion.size)
        found = np.empty(len(features))
        step = max(1, CACHED_NUMBERS // self.n_samples)
        for start in range(0, len(features), step):
            part = features[start : start + step]
            values = self.values[part] - self._middle[part, None]
            sums = expansion.sums(values, self.weights, int(first[-1]) + expansion.size)
            gram = sums[:, first[:, None] + every] + sums[:, np.abs(first[:, None] - every)]
            gram *= 0.5
            if self.centred:
                total = float(self.weights.sum())
                gram -= sums[:, first, None] * (sums[:, None, every] / total)
            small = gram @ expansion.coefficients @ gram.transpose(0, 2, 1)
            # A little too much length only lowers the bound; without it, rounding of vectors
            # of hardly any length would make one up.
            length = gram[:, :, first].copy()
            diagonal = np.einsum("mii->mi", length)
            diagonal += 1e-6 * diagonal.sum(axis=1, keepdims=True) + np.finfo(float).tiny
            left = np.linalg.inv(np.linalg.cholesky(length))
            found[start : start + step] = np.linalg.eigvalsh(
                left @ small @ left.transpose(0, 2, 1)
            )[:, 0]
        return np.maximum(0.0, -(1.0 - 1e-6) * found)

    def _held_rest(self) -> np.ndarray | None:
        """The kernels without an expansion, which are evaluated once if all of them fit."""
        if self._held is None and self._fits(len(self._rest)):
            self._held = np.empty((len(self._rest), self.n_samples, self.n_samples))
            for start, block in self._blocks(self._rest):
                self._held[start : start + len(block)] = block
        return self._held

    def _blocks(self, features):
        """(start, plain kernel matrices) of a few features at a time."""
        step = max(1, BLOCK_BYTES // (8 * self.n_samples**2))
        for start in range(0, len(features), step):
            rows = self.values[features[start : start + step]]
            yield start, self.kernel(rows[:, :, None], rows[:, None, :])

    def _dress(self, block: np.ndarray) -> np.ndarray:
        """S H K H' S of plain kernel matrices."""
        if self.centred:
            share = self.weights / self.weights.sum()
            left = block - (share @ block)[:, None, :]
            block = left - (left @ share)[:, :, None]
        return block * np.multiply.outer(self.roots, self.roots)

    def _finish(self, product: np.ndarray) -> np.ndarray:
        """S H applied to the rows of ``product``, in place."""
        if self.centred:
            product -= (product @ (self.weights / self.weights.sum()))[:, None]
        product *= self.roots
        return product

    def _fits(self, n_matrices: int) -> bool:
        return 8 * n_matrices * self.n_samples**2 <= self.max_memory


def _finite(values: np.ndarray) -> np.ndarray:
    """Refuse what overflowed, or what a user's function made of these data, in words."""
    if not np.isfinite(values).all():
        raise ValueError(
            "the kernel values are not finite for this X; use standardize=True, or a smaller "
            "gamma or degree, or a kernel function that is finite everywhere"
        )
    return values
