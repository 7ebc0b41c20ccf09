"""Robust l2,0: the l2,1 loss with a limit on the number of rows (An, Dong and Qin, 2021).

The problem, its dual and the solvers of its convex relatives are in ``solvers.robust``.

``selector.RobustL20Selector``
    The method. The support found is not certified; the model on it is.
``greedy.GreedyExchange``
    Forward selection and exchanges, with supports of every size (``support_fits``). No exchange
    tried is better; no certificate.
``published.NonmonotoneAPG``
    The paper's algorithm, solver="published": nonmonotone accelerated proximal gradients on
    Nesterov's smoothing of the l2,1 loss.
``protocol``
    How the paper runs it: strengths as shares of a bound, one limit K after the other.
"""

from .selector import RobustL20Selector

__all__ = ["RobustL20Selector"]
