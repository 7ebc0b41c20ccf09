"""Paths: convex penalties that make rows or groups of rows zero, for falling strengths.

The problems are ``least_squares.LeastSquares``, ||Y - XW||^2 + penalty(W), and
``likelihood.PenalisedLikelihood``, L(XW + ZB) + alpha sum_g c_g ||W_g||, with a loss from
``losses`` and columns Z without penalty (intercept, covariates). All of them keep a working set of
features or groups that may have weight, solve the problem on it, and read X to certify: the
duality gap over all features or groups says when to stop, and what joins the working set.

``engine.PathEngine``
    The outer loop of all of them: several strengths for one reading of X.
``block_cd.BlockCD``
    Block coordinate descent with Newton steps for the last digits: l2,1 (L21Selector), exclusive
    l2,1 (ExclusiveL21Selector, and ExclusiveLassoSelector where samples outnumber features) and
    l1,inf (LInfSelector). Its models are ``gram_cd.GramModel``, on the Gram matrix of its columns,
    and ``l1inf_cd.CutRowsModel``, on the residual. ``norm_newton`` is Newton's method in the norms
    of rows or groups, ``entry_newton`` in the nonzero entries.
``group_l21.GroupL21``
    Any penalty on the norms of groups of rows (``block_model``): L21Selector with feature_groups or
    another penalty. Certificate: the duality gap, or the residual of the stationarity conditions of
    a penalty that is not convex.
``likelihood.LikelihoodL21``
    Proximal Newton steps (``proximal_newton``) on a working set of groups (``newton_set``). Their
    quadratic models are solved by block coordinate descent with Newton steps for the last digits
    (``quadratic_model``). The Hessian is kept from one strength to the next as long
    as steps with it pay; with very many outputs it is never formed (``many_outputs``).
``signed``
    One output whose coefficients must not be negative, or not positive, in least squares
    (L21Selector) and likelihoods: quadratic models by an exact active set. Certificate: the duality
    gap, with a dual ball that is open on one side.
``free.minimise_free``
    Newton's method on the columns without a penalty: with Z at its optimum the gradient of the
    loss, scaled down until it is feasible, is a dual point.
"""
