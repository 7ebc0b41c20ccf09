"""Paths: convex penalties that make rows or groups of rows zero, for falling strengths.

The problems are ``least_squares.LeastSquares``, ||Y - XW||^2 + penalty(W), and
``likelihood.PenalisedLikelihood``, L(XW + ZB) + alpha sum_g c_g ||W_g||, with a loss from
``losses`` and columns Z without penalty (intercept, covariates). All of them keep a working set of
features or groups that may have weight, solve the problem on it, and read X to certify: the
duality gap over all features or groups says when to stop, and what joins the working set.

``block_cd.BlockCD``
    Block coordinate descent with Newton steps for the last digits: l2,1 (L21Selector), exclusive
    l2,1 (ExclusiveL21Selector, and ExclusiveLassoSelector where samples outnumber features) and
    l1,inf (LInfSelector). Working sets are ``gram_cd.GramSet``, on the Gram matrix of its columns,
    and ``l1inf_cd.CutRowsSet``, on the residual. ``row_newton`` is Newton's method in the row
    norms, ``entry_newton`` in the nonzero entries.
``group_l21.GroupL21``
    The same for groups of rows that share a norm: L21Selector with feature_groups.
``rlsr.RescaledRegression``
    The squared l2,1 norm as an l2,1 problem whose strength is a root of one variable:
    RLSRSelector. Certificate: the duality gap of the squared problem.
``likelihood.LikelihoodL21``
    Working sets of groups by the sequential strong rule, and proximal Newton steps on them
    (``newton_set``). Their quadratic models are solved by block coordinate descent with Newton
    steps for the last digits (``quadratic``). The Hessian is kept from one strength to the next as
    long as steps with it pay; with very many outputs it is never formed (``many_outputs``).
    ``free.settled`` is Newton's method on the columns without a penalty: with Z at its optimum the
    gradient of the loss, scaled down until it is feasible, is a dual point.
"""
