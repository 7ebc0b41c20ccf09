"""The models that score selections."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from sparsieve.scoring.models import CLASSIFIERS


def test_softmax_regression_is_scored_at_its_optimum():
    """Against Newton's method in the span of the samples, which has the same optimum."""
    rng = np.random.default_rng(1)
    y = np.arange(40) % 5
    X = rng.normal(size=(40, 200))
    X[:, :5] += np.eye(5)[y]
    new = rng.normal(size=(200, 200))
    span = np.linalg.qr(X.T)[0]
    best = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(X @ span, y)
    found = CLASSIFIERS["softmax"]().fit(X, y)
    np.testing.assert_allclose(found.predict_proba(new), best.predict_proba(new @ span), atol=1e-9)
    np.testing.assert_array_equal(found.predict(new), best.predict(new @ span))
