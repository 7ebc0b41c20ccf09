"""Least squares: min ||Y - XW||^2 + ridge ||W||^2 + penalty(W), for sparse rows of W.

The problem is ``problem.LeastSquares``: X is a design of n_samples x n_features, Y has one column
per output, and a feature is selected where its row of W is not zero. Either a convex penalty makes
rows zero, or the search is over supports S, each of which has the best W in closed form. Settings
are dataclasses; ``solve(problem, start=None, callback=None)`` gives a ``Result``, whose
``optimality`` is the certificate named below, and a warm start is the Result of a problem nearby.

Convex penalties
----------------
``block_cd.BlockCD``
    Block coordinate descent on a working set with Newton steps for the last digits: l2,1
    (L21Selector), exclusive l2,1 (ExclusiveL21Selector, and ExclusiveLassoSelector where samples
    outnumber features) and l1,inf (LInfSelector). Working sets are ``gram_cd.GramSet``, on the
    Gram matrix of its columns, and ``l1inf_cd.CutRowsSet``, on the residual. ``row_newton`` is
    Newton's method in the row norms, ``entry_newton`` in the nonzero entries. Certificate: the
    duality gap over all features.
``group_l21.GroupL21``
    The same for groups of rows that share a norm: L21Selector with feature_groups. Certificate:
    the duality gap over all groups.
``dual_newton.ProximalDualNewton``
    The proximal point algorithm with semismooth Newton steps in the dual, preconditioned by
    ``dual_preconditioner``: ExclusiveLassoSelector where features outnumber samples. Certificate:
    the duality gap.
``rlsr.RescaledRegression``
    The squared l2,1 norm as an l2,1 problem whose strength is a root of one variable:
    RLSRSelector. Certificate: the duality gap of the squared problem.
``published_alm.ExclusiveALM``, ``published_rlsr.PublishedAlternation``
    The algorithms of the papers, for comparison. They stop by rules of their own; the duality gap
    is reported.

Searches over supports
----------------------
``forward.ForwardSelection``
    Forward selection by orthogonal least squares with a ridge, one pass over X per feature at
    most: RidgeForwardSelector, FisherSelector, and the start of L20Selector.
    ``forward_scores`` keeps what every feature would gain, ``column_prefetch`` takes several
    products in one pass, ``_forward_gpu`` runs beside an X on a device. Every step is exact;
    nothing certifies the supports.
``exchange.ExchangeSearch``
    Forward selection with exchanges and back again: L20Selector. ``swap_table`` knows what every
    exchange would do, ``sweep_operator`` searches small problems two for two. No certificate; see
    ``certify``.
``group_forward.GroupForwardSelection``, ``group_exchange.GroupExchange``
    The same with groups of columns in place of features, for feature_groups; the branch and bound
    below takes groups too (``group_values``).
``best_subsets.BestSubsetSearch``
    Branch and bound (``exact``, ``nodes``) for the best support of every size:
    L20Selector(solver="exact"). Nodes are bounded by the perspective relaxation (``relaxation``,
    ``perspective``) or by leaps and bounds (``leaps``). Certificate: the proven gap between the
    objective and a lower bound, rounding errors included (``accuracy``, ``support_values``,
    ``exact_values``).
``bounds.BoundSearch``
    Lower bounds for all sizes by weak duality of the same relaxation: ``certify`` of
    RidgeForwardSelector and L20Selector. However inexactly it was solved, the bound holds.
``distillation.ForwardDistillation``, ``group_distillation.GroupDistillation``
    Tests of the columns (or groups of them) of a forward path, each given what all others know:
    FDRSelector. ``distilled_state`` keeps what a path leaves of X and Y without reading X again,
    ``random_targets`` say what a step explains by chance. P-values are exact for normal columns and
    a path of fixed length; nothing certifies the path.
``homotopy_iht.HomotopyIHT``
    Homotopy iterative hard thresholding as published: L20Selector with solver="hiht" or "ahiht".
    Stops by the length of a step; no certificate.
``top_k_iht.TopKIHT``
    Normalised iterative hard thresholding and hard thresholding pursuit for a limit on the number
    of rows: ESFSSelector. Stops when no step lowers the objective; no certificate.
"""
