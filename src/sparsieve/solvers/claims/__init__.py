"""Claims: tests of features, each given what all others know.

``distillation.ForwardDistillation``, ``group_distillation.GroupDistillation``
    Tests of the columns (or groups of them) of a forward path: FDRSelector. ``distilled_state``
    keeps what a path leaves of X and Y without reading X again, ``random_targets`` say what a step
    explains by chance. P-values are exact for normal columns and a path of fixed length; nothing
    certifies the path.
"""
