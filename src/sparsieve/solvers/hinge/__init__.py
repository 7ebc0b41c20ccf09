"""Linear support vector machines: hinge and squared hinge loss.

The problems
------------
``column_generation.Hinge`` is a linear program with a weighted l1 norm,

    min over w, b:  sum_j cost_j |w_j| + sum_i C_i max(0, 1 - y_i (w'x_i + b)),  |w_j| <= bound,

and every convex step of the models that count features:

* ``l0_svm.SurrogateSVM`` replaces the number of features by sum_j delta(w_j) with a concave
  surrogate delta (PiE-SVM, CAP-SVM and relatives; :class:`sparsieve.L0SVMSelector`);
* ``l0_svm.ExactPenaltySVM`` has one switch per feature and an exact penalty that drives the
  switches to 0 or 1 (EP-SVM; :class:`sparsieve.ExactPenaltySVMSelector`).

``newton.SquaredHinge`` is 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f_i)^2, the machine of recursive
feature elimination (:class:`sparsieve.SVMRFESelector`).

The algorithms
--------------
``l0_svm.L0SVM``
    The DC algorithm (DCA): the concave part is replaced by its tangent, again and again.
``column_generation.ColumnGeneration``
    The linear program over all features, on a working set of columns that grows by those of
    negative reduced cost. The working set is part of the solution, so that the Result of one
    program is the warm start of the next.
``linear_program.HighsSolver``
    The program on a few columns by the simplex method of HiGHS, in primal or dual form; of very
    many samples only those near their margins take part.
``newton.FiniteNewton``
    Finite Newton steps (Keerthi and DeCoste 2005, Chapelle 2007) with an exact line search, in the
    samples (``GramSide``) or in the features (``FeatureSide``), whichever are fewer.
``without_features``
    Conditional gradient steps that prove for many one-against-the-rest machines at once that they
    use no feature.

The certificates
----------------
A linear program is certified by its duality gap over all features and by the largest negative
reduced cost. A model that counts features is certified as a critical point: the optimality is how
far the point is from solving the linear program that it defines itself. The squared hinge is
certified by its optimality conditions, which the last Newton step meets to rounding.
"""
