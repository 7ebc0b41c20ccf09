"""l0-MKL: multiple kernel learning with one kernel per feature, indefinite ones included.

The problems
------------
``alternating_dca.MKLModel`` is a kernel machine with squared hinge loss and few kernels,

    min over u, b, 0 <= d <= d_max:  lambda1 sum_m d_m u'(A_m + shift_m I)u
                                     + lambda2 sum_m delta(d_m)
                                     + sum_i max(0, s_i - y_i (sum_m d_m (A_m u)_i + s_i b))^2,

A_m the centred kernel matrix of feature m, shift_m what makes it semidefinite, delta a concave
surrogate of "d_m is not zero" (:class:`sparsieve.L0MKLSelector`) or the identity
(:class:`sparsieve.MIKFSSelector`). ``published.PublishedMKLModel`` is the objective as it was
printed, which has no lower bound for indefinite kernels. ``kernels`` has the kernels of single
features.

The algorithms
--------------
``alternating_dca.AlternatingMKL``
    Alternating minimisation: coefficients, weights, and their common scale, with Newton steps in
    the weights once the support stands still. After a few rounds only screened features are
    considered; the last round considers all.
``kernel_svm.SemismoothNewton``
    The coefficients: a convex, piecewise quadratic problem.
``kernel_weights.WeightProgram``
    The weights by the DC algorithm; every convex step has a working set, solved by coordinate
    descent and polished by Newton's method.
``published.PublishedMKL``
    Algorithms 1, 3 and 4 of the paper, for comparison.

The certificates
----------------
The alternation stops on first-order conditions of both blocks over all features, relative to the
largest correlation with the residual, or where the objective, which is never negative, has become
negligible. The published iteration has none: it stops where its objective hardly changes.
"""

from .selectors import L0MKLSelector, MIKFSSelector

__all__ = ["L0MKLSelector", "MIKFSSelector"]
