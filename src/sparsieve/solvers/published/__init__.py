"""The papers' own algorithms, for comparison: they stop by rules of their own.

They use the design, the penalties and the statements of the problems, and none of the engines, so
that they are what was printed. Two more are beside the mathematics that they need:
``kernel.published_mikfs`` and ``minimax.published_smpm``.

``nmapg.NonmonotoneAPG``
    Nonmonotone accelerated proximal gradients on Nesterov's smoothing of the l2,1 loss (An, Dong
    and Qin, 2021): RobustL20Selector with solver="nmapg".
``homotopy_iht.HomotopyIHT``
    Homotopy iterative hard thresholding: L20Selector with solver="hiht" or "ahiht". Stops by the
    length of a step.
``exclusive_alm.ExclusiveALM``
    The augmented Lagrangian method for exclusive l2,1; the duality gap is reported.
``rlsr.PublishedAlternation``
    The alternation for rescaled linear regression; the duality gap is reported.
"""
