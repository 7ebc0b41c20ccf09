"""Losses: what a model with linear predictors F of shape (n_samples, n_outputs) is judged by.

``base.Loss`` says what a solver may ask of a loss: value, gradient, curvature, Hessian products and
the value of a dual point. Every loss has its own file: ``logistic``, ``multinomial``, ``counts``
(Poisson, negative binomial) and ``cox`` (Efron's and Breslow's ties, strata, late entry). Losses
see no solver.
"""
