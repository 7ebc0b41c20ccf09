"""Many l2,1-loss problems of equal kind as tensors on one device, such as the folds of a data set.

Every *part* (a fold) has a matrix X of its own; all of its *problems* (numbers of features,
strengths) share that. Unknowns are kept with outputs before features: W is parts x problems x
outputs x features, images X W are parts x problems x outputs x samples. So norms over outputs
and sums over features or samples read memory in order, and a product for all problems of a part
is one product of matrices.

Parts with fewer samples or outputs are filled up with samples of weight zero and outputs that are
zero everywhere, which change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch

from sparsieve.device import out_of_memory
from sparsieve.solvers.robust.problem import RobustRegression

State = TypeVar("State", bound=tuple)

LOOK_EVERY = 25  # iterations after which the host asks whether all is done
RECORDED = 5  # of them in a recording, at least two: what was before must not be a place to write
HOST_BYTES = 2 << 30  # for a batch on the CPU


class BatchedFit(NamedTuple):
    """What one problem of a batch came to for one number of features."""

    k: int
    features: np.ndarray
    objective: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Stacked:
    """The parts: X (parts, n, d), Y (parts, 1, c, n), weights of samples (parts, 1, n)."""

    X: torch.Tensor
    Y: torch.Tensor
    weights: torch.Tensor

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return self.X.shape[2]

    def images(self, W: torch.Tensor) -> torch.Tensor:
        """X W of every problem."""
        parts, problems, outputs, features = W.shape
        flat = W.reshape(parts, problems * outputs, features)
        return torch.bmm(flat, self.X.mT).view(parts, problems, outputs, -1)

    def gradients(self, R: torch.Tensor) -> torch.Tensor:
        """X' R of every problem."""
        parts, problems, outputs, samples = R.shape
        flat = R.reshape(parts, problems * outputs, samples)
        return torch.bmm(flat, self.X).view(parts, problems, outputs, -1)

    def tensor(self, values: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Numbers beside X, in its precision unless another is asked for."""
        return torch.as_tensor(np.asarray(values), dtype=dtype or self.X.dtype).to(self.X.device)


@contextmanager
def at_work(device: torch.device, purpose: str) -> Iterator[None]:
    """Without gradients, on this one of several devices; a full one gives a sentence."""
    chosen = torch.cuda.device(device) if device.type == "cuda" else nullcontext()
    with torch.no_grad(), chosen, out_of_memory(device, purpose):
        yield


def stacked(parts: Sequence[RobustRegression], device: torch.device) -> Stacked:
    """The parts on the device, filled up to equal shapes, in double precision."""
    n = max(len(part.Y) for part in parts)
    c = max(part.Y.shape[1] for part in parts)
    d = parts[0].design.shape[1]
    for part in parts:
        if part.design.shape[1] != d:
            raise ValueError(
                f"the parts of a batch must have the same features, got {d} and "
                f"{part.design.shape[1]}"
            )
        if not part.fit_intercept or part.covariates is not None:
            raise ValueError("a batch takes problems with an intercept and without covariates")
    X = torch.zeros((len(parts), n, d), dtype=torch.float64, device=device)
    Y = torch.zeros((len(parts), 1, c, n), dtype=torch.float64, device=device)
    weights = torch.zeros((len(parts), 1, n), dtype=torch.float64, device=device)
    for place, part in enumerate(parts):
        rows, outputs = part.Y.shape
        X[place, :rows] = torch.from_numpy(part.columns(np.arange(d)))
        Y[place, 0, :outputs, :rows] = torch.from_numpy(part.Y.T.astype(np.float64))
        weights[place, 0, :rows] = torch.from_numpy(part.weights.astype(np.float64))
    return Stacked(X, Y, weights)


class Repeated(Generic[State]):
    """A function that takes a tuple of tensors one iteration further, done many times over.

    On a GPU it is recorded once and replayed: to launch its many small operations one by one
    takes the host several times as long as the GPU takes to do them. So the function must not
    ask the device for anything, nor change what it is given.
    """

    def __init__(self, function: Callable[[State], State], state: State):
        self.function = function
        self.graph: Any = None
        if state[0].is_cuda:
            self._record(state)

    def __call__(self, state: State) -> State:
        """The state ``LOOK_EVERY`` iterations later."""
        if self.graph is None:
            for _ in range(LOOK_EVERY):
                state = self.function(state)
            return state
        _copy(self.held, state)
        for _ in range(LOOK_EVERY // RECORDED):
            self.graph.replay()
        return type(state)(*(each.clone() for each in self.held))

    def _record(self, state: State) -> None:
        self.held = type(state)(*(each.clone() for each in state))
        here = torch.cuda.current_stream()
        aside = torch.cuda.Stream()
        aside.wait_stream(here)
        with torch.cuda.stream(aside):  # what libraries prepare at the first call is not recorded
            self.function(self.held)
        here.wait_stream(aside)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            after = self.held
            for _ in range(RECORDED):
                after = self.function(after)
            _copy(self.held, after)


def _copy(there: tuple[torch.Tensor, ...], values: tuple[torch.Tensor, ...]) -> None:
    for mine, theirs in zip(there, values, strict=True):
        mine.copy_(theirs)


def longest(norms: torch.Tensor, k: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Mask of the k largest along the last axis, ties in order of position; and their places.

    ``k`` has a number for every problem, at most ``most``. Of the places there are ``most``, those
    of the largest first.
    """
    top = torch.topk(norms, min(most, norms.shape[-1]), dim=-1)
    last = (k.clamp(max=norms.shape[-1]) - 1).expand(norms.shape[:-1])[..., None]
    limit = top.values.gather(-1, last)
    above, equal = norms > limit, norms == limit
    missing = k[..., None] - above.sum(-1, keepdim=True)
    return above | (equal & (equal.cumsum(-1) <= missing)), top.indices


def pieces(
    n_parts: int, n_problems: int, part_bytes: float, problem_bytes: float, device: torch.device
) -> Iterator[tuple[slice, slice]]:
    """Parts and problems that fit on the device together: all of them, where that is possible.

    A part takes ``part_bytes`` for its X and ``problem_bytes`` for each of its problems.
    """
    memory = float(HOST_BYTES)
    if device.type == "cuda":
        memory = 0.7 * torch.cuda.mem_get_info(device)[0]
    problems = _at_once(n_problems, (memory - part_bytes) / problem_bytes)
    parts = _at_once(n_parts, memory / (part_bytes + problems * problem_bytes))
    for some in range(0, n_problems, problems):
        for few in range(0, n_parts, parts):
            yield slice(few, few + parts), slice(some, some + problems)


def _at_once(count: int, limit: float) -> int:
    """The size of pieces of about equal size, none above the limit unless that is below one."""
    n_pieces = -(-count // max(1, min(count, int(limit))))
    return -(-count // n_pieces)
