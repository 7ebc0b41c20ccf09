"""Losses that are negative log-likelihoods, with few features.

The problems
------------
With f = XW + ZB, columns Z without a penalty (intercept, covariates) and weights s of the samples:

* ``path.PenalisedLikelihood``: sum_i s_i l(y_i, f_i) + alpha sum_g c_g ||W_g||, the group lasso
  (:class:`sparsieve.LikelihoodL21Selector`);
* ``neighbours.RidgeLikelihood``: sum_i s_i l(y_i, f_i) + ridge / 2 ||W||^2 with at most k features
  (:class:`sparsieve.LikelihoodForwardSelector`).

``loss.Loss`` says what a loss l is; every loss has its own file: ``logistic``, ``multinomial``,
``counts`` (Poisson, negative binomial) and ``cox`` (Efron's and Breslow's ties, strata, late
entry).

The algorithms
--------------
``path.LikelihoodL21``
    Working sets of groups by the sequential strong rule, and proximal Newton steps on them
    (``working_set``). Their quadratic models are solved by block coordinate descent with Newton
    steps for the last digits (``quadratic``). The Hessian is kept from one strength to the next as
    long as steps with it pay; with very many outputs it is never formed (``many_outputs``).
``free.settled``
    Newton's method on the columns without a penalty.
``forward.LikelihoodForward``
    Forward selection by score tests and exchanges, with a Newton fit on every support
    (``neighbours``, ``ridge_fit``).

The certificates
----------------
The path is certified by its duality gap over all groups: with Z at its optimum the gradient of the
loss, scaled down until it is feasible, is a dual point. ``bounds.LikelihoodBounds`` bounds the best
k features for a likelihood with ridge by the perspective relaxation.
"""
