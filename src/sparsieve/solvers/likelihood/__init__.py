"""Losses that are negative log-likelihoods, with few features.

``loss.py`` says what a loss is; every loss has its own file: ``logistic.py``, ``multinomial.py``,
``counts.py`` (Poisson, negative binomial) and ``cox.py``.

    path.py     sum_i s_i l(y_i, f_i) + alpha sum_g c_g ||W_g||, f = XW + b, for falling alpha:
                working sets of groups, proximal Newton steps, certified by a duality gap
"""
