"""Engines of the baselines.

Support vector machines that count features
-------------------------------------------
``column_generation.Hinge`` is a linear program with a weighted l1 norm,

    min over w, b:  sum_j cost_j |w_j| + sum_i C_i max(0, 1 - y_i (w'x_i + b)),  |w_j| <= bound,

and every convex step of the models that count features:

* ``l0_svm.SurrogateSVM`` replaces the number of features by sum_j delta(w_j) with a concave
  surrogate delta (PiE-SVM, CAP-SVM and relatives; :class:`sparsieve.L0SVMSelector`);
* ``l0_svm.ExactPenaltySVM`` has one switch per feature and an exact penalty that drives the
  switches to 0 or 1 (EP-SVM; :class:`sparsieve.ExactPenaltySVMSelector`).

``l0_svm.L0SVM``
    The DC algorithm (DCA): the concave part is replaced by its tangent, again and again. The result
    is certified as a critical point: the optimality is how far it is from solving the linear
    program that it defines itself.
``column_generation.ColumnGeneration``
    The linear program over all features, on a working set of columns that grows by those of
    negative reduced cost, certified by its duality gap. The working set is part of the solution, so
    that the Result of one program is the warm start of the next.
``linear_program.HighsSolver``
    The program on a few columns by the simplex method of HiGHS, in primal or dual form; of very
    many samples only those near their margins take part.
``without_features``
    Conditional gradient steps that prove for many one-against-the-rest machines at once that they
    use no feature.

Norms of rows
-------------
``top_k_alm.TopKLagrangian``
    The augmented Lagrangian of Cai, Nie and Huang (2013): RPMFSSelector. No certificate: the
    agreement of the copies of W.
``published_rlsr.PublishedAlternation``
    The alternation of RLSR as printed; it reports the gap. Our solver is beside its selector.

Samples and kernels
-------------------
``nonnegative_lasso.NonnegativeLARS``
    1/2 ||L - sum_k a_k K_k||^2 + strength sum_k a_k over a >= 0 for centred kernels:
    HSICLassoSelector. The homotopy method gives the exact path, certified by the largest violation
    of its optimality conditions.

Methods whose engine serves nothing else have it in their own file.
"""
