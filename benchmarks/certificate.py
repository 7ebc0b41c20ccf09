"""Proofs: time of all bounds against fits, nodes and seconds of the exact search.

Against the prototype of 300 proximal gradient steps, written out below, at the same bound; where
L0BnB can be imported its time on one output stands beside ours.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np

from benchmarks.common import real_data, report, timed  # noqa: F401
from sparsieve import ExactSearch, L20Selector, RidgeForwardSelector
