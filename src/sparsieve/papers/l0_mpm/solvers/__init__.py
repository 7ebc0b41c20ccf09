"""Minimax probability machines: hyperplanes with a guaranteed worst-case accuracy.

The problem
-----------
``problem.Minimax`` holds two classes by their means mu_i and covariances (``moments``, as thin
factors Z_i with ridges), the costs of the weights, and the level to reach. With D = mu_1 - mu_2
and N_i(w)^2 = ||Z_i w||^2 + ridge_i ||w||^2, a hyperplane whose distance from both means is kappa
times N_i classifies every distribution with these moments correctly with probability at least
kappa^2 / (1 + kappa^2). The models:

* MPM: min N_1(w) + N_2(w) s.t. D'w = 1, the best worst-case accuracy
  (:class:`sparsieve.MPMClassifier`);
* S-MPM: min N_1(w) + N_2(w) s.t. D'w - costs'|w| >= 1 (:class:`sparsieve.SMPMSelector`);
* L1-MPM: min costs'|w| s.t. mu_1'w - b >= max(kappa N_1, 1) and b - mu_2'w >= max(kappa N_2, 1)
  (:class:`sparsieve.L1MPMSelector`);
* L0-MPM: the same constraints with a concave surrogate of the number of features, or that number
  itself (:class:`sparsieve.L0MPMSelector`, :class:`sparsieve.SparseKernelMPMClassifier`).

The algorithms
--------------
``mpm.MPM``
    Newton's method on the slice D'w = 1, in the span of the samples where that is smaller; a cone
    program where one of the norms vanishes.
``l1_mpm.L1MPM`` and ``ratio_mpm.SMPM``
    Column generation: second-order cone programs (``cones``, by Clarabel) on a working set of
    features, which grows by reduced costs; Newton's method polishes once the support is known
    (``column_generation``). What the next run starts from is part of the hyperplane.
``l0_mpm.L0MPM``
    The DC algorithm on the surrogate, whose steps are L1-MPMs with changing costs.
``l0_mpm.BestSubset``
    Leaps and bounds (Furnival and Wilson 1974) for up to 30 features (:class:`ExactMinimax`).
``published.PublishedL0MPM``
    The DC algorithm with the steps of the paper, which differ from those of ``L0MPM`` where a
    weight changes its sign.
``published.PublishedSMPM``
    The fractional program of S-MPM by quadratic interpolation over parametric programs, as it was
    published.

The certificates
----------------
MPM bounds its relative distance from the optimum by a residual in the metric of the covariances.
Column generation scales the multipliers of its working set until they are dual feasible for all
features: the relative duality gap. L0-MPM reports the larger of the last relative decrease and of
the gap of its last step. Leaps and bounds proves a lower bound on the number of features. The
published iteration encloses the ratio between two bounds.
"""
