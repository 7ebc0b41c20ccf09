"""The squared hinge loss: 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f_i)^2.

It is the machine of recursive feature elimination (:class:`sparsieve.SVMRFESelector`).

``newton.FiniteNewton``
    Finite Newton steps (Keerthi and DeCoste 2005, Chapelle 2007) with an exact line search, in the
    samples (``GramSide``) or in the features (``FeatureSide``), whichever are fewer. Certified by
    the optimality conditions, which the last step meets to rounding.
"""
