"""Homotopy for least squares with an l2,0 penalty (Sun and Yu): solvers of L20Selector.

The selector and its greedy and exact searches belong to the core, which finds ``fit_homotopy`` by
the entry point ``sparsieve.solvers``.

``homotopy.fit_homotopy``
    From the first penalty down to the one that is asked for, one stage per penalty.
``published.HomotopyIHT``
    The stages as published: iterative hard thresholding, plain (solver="hiht") and accelerated
    (solver="published"). Stops by the length of a step.
"""
