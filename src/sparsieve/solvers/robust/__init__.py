"""Robust regression: the l2,1 loss, with row norms or with a limit on the rows.

The problem (:class:`~.problem.RobustRegression`) is

    min  sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j||   over W, B,

with at most k nonzero rows of W where k is given. Residuals count by their norm and not by its
square, so that a sample which does not fit cannot dominate the others. s_i are weights of the
samples, f_i the columns that are not penalised (the intercept, covariates), and only eligible
features may have nonzero rows. Without k the problem is convex. With k it is not: either the limit
stands as it is, or it is replaced by the exact penalty rho (sum of all but the k largest ||w_j||).

The dual of the convex problem is max <M, Y> over ||m_i|| <= s_i, ||x_j' M|| <= alpha and F'M = 0.
Any M, divided by its violation of these conditions, gives a lower bound of the optimum: this
duality gap, relative to the objective, is what the solvers of the convex problem stop on.

Every solver is a frozen dataclass of settings with ``solve(problem, start=None, callback=None)``;
a start is the Result of a problem nearby.

========================== ================================== ==================== ================
solver                     algorithm                          certificate          used by
========================== ================================== ==================== ================
RobustWorkingSet           working set, pruned by the KKT     duality gap over     RFSSelector
                           conditions, around InteriorPoint   all features
InteriorPoint, RobustRefit primal-dual interior points        duality gap on the   refits on a
                           (Mehrotra's predictor and          eligible features    support, in all
                           corrector); polishing makes zero                        selectors
                           rows exactly zero
FirstOrderWorkingSet,      primal-dual method of Chambolle    duality gap          RFSSelector,
ChambollePock              and Pock (2011), over-relaxed, or                       many features of
                           restarted as in PDLP                                    sparse data
ReweightedLeastSquares     majorisation by quadratics (IRLS)  none: change of the  RobustL20Selector
                           of the exact penalty, or as        objective            "irls", and
                           published by Nie et al. (2010)                          RFSSelector
                                                                                   "published"
========================== ================================== ==================== ================

All reweighted steps solve with one matrix, X diag(a) X' + diag(e), on the
smaller of its two sides (:class:`~.weighted_gram.ReweightedSystem`). The support found under a
limit is not certified; the model on it is, since the selectors fit it again by RobustRefit.
"""
