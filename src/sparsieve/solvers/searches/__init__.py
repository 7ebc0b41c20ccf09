"""Searches over supports: a few features, or groups of them, and the best model on each.

Least squares: min ||Y - XW||^2 + ridge ||W||^2 over the rows of a support.

``forward.ForwardSelection``
    Forward selection by orthogonal least squares with a ridge, one pass over X per feature at
    most: RidgeForwardSelector, FisherSelector, and the start of L20Selector.
    ``forward_scores`` keeps what every feature would gain, ``column_prefetch`` takes several
    products in one pass, ``scale.gpu._forward`` runs beside an X on a device. Every step is exact;
    nothing certifies the supports.
``signed_forward.SignedForward``, ``signed_forward.SignedExchange``
    The same for one output whose coefficients must not be negative: the best addition at every
    step, and the best swap, found by the bounds that the fit without signs gives. No certificate.
``exchange.ExchangeSearch``
    Forward selection with exchanges and back again: L20Selector. ``swap_table`` knows what every
    exchange would do, ``sweep_operator`` searches small problems two for two. No certificate; see
    ``certify``.
``group_forward.GroupForwardSelection``, ``group_exchange.GroupExchange``
    The same with groups of columns in place of features, for feature_groups.

Likelihoods: min sum_i s_i l(y_i, f_i) + ridge / 2 ||W||^2 (``likelihood_neighbours``).

``likelihood_forward.LikelihoodForward``
    Forward selection by score tests and exchanges, with a Newton fit on every support
    (``ridge_fit``): LikelihoodForwardSelector.
"""
