"""scikit-learn's own checks, and the habits of the house."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import (
    L0MPMSelector,
    L1MPMSelector,
    MPMClassifier,
    SMPMSelector,
    SparseKernelMPMClassifier,
)

ESTIMATORS = [
    MPMClassifier(),
    MPMClassifier(kernel="rbf"),
    L1MPMSelector(),
    L0MPMSelector(),
    SMPMSelector(),
    SparseKernelMPMClassifier(),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    check(estimator)
