"""What is public and what is internal: the one place that says it.

The reference lists the public packages by task, and ``tests/test_documentation.py`` holds their
docstrings to numpydoc, counts their names and asks of every new package where it belongs.
"""

# Task in the reference to module. What ``import sparsieve`` gives is listed under that name.
PACKAGES = {
    "Select in one line": "sparsieve.selection",
    "Compare methods": "sparsieve.app.comparison",
    "Look at the data first": "sparsieve.diagnosis",
    "Prepare data frames and counts": "sparsieve.preprocessing",
    "Find a method by name": "sparsieve.registry",
    "Choose how many features, and how stable they are": "sparsieve.meta",
    "Write your own selector": "sparsieve.conformance",
    "Set up a solver": "sparsieve.solvers",
    "Draw pictures": "sparsieve.app.plotting",
    "Write reports": "sparsieve.app.report",
    "Save and load": "sparsieve.persistence",
    "Read and write files": "sparsieve.app.io",
    "Convert to ONNX": "sparsieve.onnx",
    "Limit memory": "sparsieve.memory",
    "Compile ahead": "sparsieve.compile",
    "Use a GPU": "sparsieve.device",
    "Measure selections": "sparsieve.scoring",
    "Get data sets": "sparsieve.datasets",
    "Run studies": "sparsieve_experiments.studies",
    "Write pages about studies and papers": "sparsieve_experiments.report",
    "Repeat the papers' experiments": "sparsieve_experiments.papers",
}
# Chapters of the reference, and what stands in each; None: the selectors, family by family. What
# no chapter names stands in the last one.
GROUPS = {
    "Start here": ("Select in one line", "Compare methods", "Look at the data first"),
    "Selectors by family": None,
    "Number of features and stability": ("Choose how many features, and how stable they are",),
    "Prepare data": ("Prepare data frames and counts", "Read and write files", "Get data sets"),
    "Scores": ("Measure selections",),
    "Plots": ("Draw pictures",),
    "Reports": ("Write reports", "Write pages about studies and papers"),
    "Studies and papers": ("Run studies", "Repeat the papers' experiments"),
    "More": (),
}
# Packages of selectors, which the reference lists family by family.
SELECTORS = ("selectors", "filters", "papers")
# What functions and attributes return, and nobody has to import: explained, but not in ``__all__``.
RESULTS = (
    "datasets.load.DatasetInfo",
    "diagnosis.findings.Finding",
    "diagnosis.null.PermutationNull",
    "app.io.errors.TargetNeededError",
    "meta.held_out.HeldOutCheck",
    "meta.stability.StabilityPath",
    "app.plotting.accuracy_curve.ScoreCurve",
    "app.plotting.kinds.OverviewDisplay",
    "scoring.curves.Curve",
    "scoring.feature_sets.Recovery",
    "scoring.feature_sets.Redundancy",
    "scoring.protocol.Split",
    "scoring.outcomes.Measured",
    "scoring.scorers.Score",
    "scoring.stability.Stability",
    "scoring.statistics.Friedman",
    "scoring.statistics.Interval",
    "scoring.statistics.PairedTest",
    "scoring.stability.SplitDifference",
    "scoring.tuning.Tuned",
    "selectors.certificates.Certificate",
    "papers.exclusive_l21.selector.ClassHeatmap",
)
# Packages that may change with any version, and why nobody has to import them.
INTERNAL = {
    "comparison": "a shorter way to `sparsieve.app.comparison`",
    "io": "a shorter way to `sparsieve.app.io`",
    "plotting": "a shorter way to `sparsieve.app.plotting`",
    "report": "a shorter way to `sparsieve.app.report`",
    "app.cli": "the command line is used by its commands",
    "design": "what X can do; selectors make designs from arrays, frames, files and tensors",
    "penalties": "mathematics; every selector has its penalty",
    "scale": "X in files, on GPUs and on clusters; selectors take it as it is",
    "validation": "what X and y pass before a fit",
}
