"""Proofs: the best support of every size, or a bound on what any support of that size reaches.

``best_subsets.BestSubsetSearch``
    Branch and bound (``branch_and_bound``, ``nodes``) for the best support of every size, of
    features or groups (``group_values``): L20Selector(solver="exact"). Nodes are bounded by the
    perspective relaxation (``relaxation``, ``perspective``) or by leaps and bounds (``leaps``).
    Certificate: the proven gap between the objective and a lower bound, rounding errors included
    (``accuracy``, ``support_values``, ``exact_values``).
``bounds.BoundSearch``
    Lower bounds for all sizes by weak duality of the same relaxation: ``certify`` of
    RidgeForwardSelector and L20Selector. However inexactly it was solved, the bound holds.
``likelihood_bounds.LikelihoodBounds``
    The same for a likelihood with a ridge: ``certify`` of the likelihood selectors.
"""
