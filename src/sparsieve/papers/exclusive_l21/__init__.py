"""Exclusive l2,1: features that classes share, and features of single classes, at once.

``selector.ExclusiveL21Selector``
    The method; ``solvers.paths.block_cd`` solves it, certified by the duality gap.
``exclusive_lasso.ExclusiveLassoSelector``
    ||Y - XW||^2 + beta sum_j ||w_j||_1^2 alone. Where features outnumber samples it is solved by
    ``dual_newton.ProximalDualNewton``: the proximal point algorithm with semismooth Newton steps in
    the dual, preconditioned by ``dual_preconditioner``. Certificate: the duality gap.
``published.ExclusiveALM``
    The paper's algorithm, solver="published": an augmented Lagrangian; the duality gap is reported.
"""

from .exclusive_lasso import ExclusiveLassoSelector
from .selector import ExclusiveL21Selector

__all__ = ["ExclusiveL21Selector", "ExclusiveLassoSelector"]
