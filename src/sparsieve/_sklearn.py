"""The private names of scikit-learn that sparsieve needs, imported here and nowhere else.

They may change without notice. ``tests/test_sklearn.py`` calls each the way sparsieve does, and
``make test-versions`` runs that on every supported version.
"""

from sklearn.base import _clone_parametrized as clone_parametrized
from sklearn.utils._set_output import _get_output_config as get_output_config
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _check_y as check_y
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "check_method_params",
    "check_sample_weight",
    "check_y",
    "clone_parametrized",
    "get_output_config",
    "num_samples",
]
