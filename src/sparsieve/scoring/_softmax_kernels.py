"""Compiled loops over samples and classes: log losses and what is missing of probabilities."""

from __future__ import annotations

from math import exp, log

from .._numba import VIEWS, compiled


@compiled(nogil=True, **VIEWS)
def loss_and_residuals(F, codes, share):
    """The mean log loss at decision values F, which become shares times (probability - indicator).

    With one column the classes are 0 and 1, and the value of 0 is zero.
    """
    n_samples, n_columns = F.shape
    loss = 0.0
    for i in range(n_samples):
        if n_columns == 1:
            f = F[i, 0]
            away = exp(-abs(f))
            loss += share[i] * (max(f, 0.0) + log(1.0 + away) - f * codes[i])
            F[i, 0] = share[i] * ((1.0 if f > 0 else away) / (1.0 + away) - codes[i])
            continue
        high = F[i, 0]
        for c in range(1, n_columns):
            high = max(high, F[i, c])
        own = F[i, codes[i]] - high
        total = 0.0
        for c in range(n_columns):
            F[i, c] = exp(F[i, c] - high)
            total += F[i, c]
        loss += share[i] * (log(total) - own)
        scale = share[i] / total
        for c in range(n_columns):
            F[i, c] *= scale
        F[i, codes[i]] -= share[i]
    return loss


@compiled(nogil=True, **VIEWS)
def mean_losses(levels, above, places, weights, strengths, losses):
    """Add to ``losses`` the weighted log loss at every strength, see ``losses_by_strength``."""
    n_samples, n_classes = above.shape
    for s in range(len(strengths)):
        strength, sum_of_losses = strengths[s], 0.0
        for i in range(n_samples):
            place = places[i]
            own, total = levels[place] + strength * above[i, place], 1.0
            for c in range(n_classes):
                if c != place:
                    total += exp(levels[c] + strength * above[i, c] - own)
            sum_of_losses += weights[i] * log(total)
        losses[s] += sum_of_losses
