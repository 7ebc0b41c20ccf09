"""Which classes of this package another library has to trust to load what it saved."""

from __future__ import annotations

from .._saved import CLASSES
from .classes import load_all


def skops_trusted_types() -> list[str]:
    """List the types of this package that fitted estimators consist of.

    ``skops.io.load`` makes objects only of types that its caller trusts. MLflow asks for the same
    list.

    Returns
    -------
    types : list of str
        Full names of classes, for ``trusted`` of ``skops.io.load``, or for
        ``skops_trusted_types`` of ``mlflow.sklearn.save_model``.

    See Also
    --------
    save : Saves to a file that needs no trust.

    Examples
    --------
    >>> import sparsieve
    >>> "sparsieve.filters.fisher.FisherSelector" in sparsieve.skops_trusted_types()
    True
    """
    load_all()
    own = {
        f"{cls.__module__}.{cls.__qualname__}"
        for cls in CLASSES.values()
        if cls.__module__.startswith("sparsieve.")
    }
    return sorted({*own, *_FURTHER})


# What estimators keep beside those: the precision of their numbers, sparse neighbours of samples,
# samples of a kernel, and that a model scores itself.
_FURTHER = (
    "numpy.dtype",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csr.csr_array",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sparsieve.papers.l0_mkl.kernels.expansion.Expansion",
)
