"""The exclusive lasso: ||Y - XW||^2 + beta sum_j ||w_j||_1^2 where features outnumber samples.

``dual_newton.ProximalDualNewton``
    The proximal point algorithm with semismooth Newton steps in the dual, preconditioned by
    ``dual_preconditioner``: ExclusiveLassoSelector. Certificate: the duality gap. Where samples
    outnumber features, and with an l2,1 norm beside the squares, ``paths.block_cd`` is faster.
"""
