"""Losses: what a model with linear predictors F of shape (n_samples, n_outputs) is judged by.

``base.Loss`` says what a solver may ask of a loss: value, gradient, curvature, Hessian products and
the value of a dual point. Every loss has its own file: ``logistic``, ``multinomial``, ``counts``
(Poisson, negative binomial), ``cox`` (Efron's and Breslow's ties, strata, late entry) and
``huber``. Losses see no solver.
"""

from .base import Loss
from .cox import Cox
from .multinomial import Multinomial
from .separable import Huber, Logistic, NegativeBinomial, Poisson

#: Losses that selectors know by name: a new one is its file and a line here. Of several for the
#: same task the first that says it is the one for a target is taken where nobody says which.
LOSS_KINDS: dict[str, type[Loss]] = {
    "logistic": Logistic,
    "multinomial": Multinomial,
    "poisson": Poisson,
    "negative-binomial": NegativeBinomial,
    "cox": Cox,
    "huber": Huber,
}
