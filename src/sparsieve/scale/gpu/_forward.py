"""Forward selection beside an X on a device: the host looks on every few steps.

A step is some fifty small operations, and to launch them one by one takes the host longer than the
device takes to do them. So a step is recorded once and replayed; nothing in it asks the device for
anything. A step that cannot be taken (nothing to gain, or the products of the winner are not known
yet) changes nothing and says why, and those after it change nothing either. Products of the most
promising columns are taken in blocks, as in :mod:`.column_prefetch`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch

from ...solvers.base import Callback, Event, LeastSquares, Result
from ...solvers.searches.forward import EndRule, ForwardPath, Standing, path_result
from ...solvers.searches.forward_scores import (
    KEPT_BLOCKS,
    MIN_RESIDUAL_SHARE,
    MIN_ROWS_PER_COLUMN_HELD,
    RANK_TOL,
    blocks_pay,
)
from ...solvers.searches.redundancy import Company

# Steps between two looks of the host: a look takes as long as a step, and so does each one
# that comes after a step that cannot be taken.
LOOK_EVERY = 8
# Fewer steps than this are not worth a recording.
RECORDED = 8
# Directions held at first; every change of the capacity is a new recording.
FIRST_CAPACITY = 128
# Why a step was not taken.
TAKEN, SPENT_ALL, UNREAD, INEXACT = range(4)
DOUBLE = torch.float64


class DevicePath:
    """The features, directions and residuals of a path; all of it beside X.

    Parameters
    ----------
    problem : LeastSquares
        With its design on the device.
    n_steps : int
        Length of the path.
    watched : bool
        Whether :meth:`standing` will be asked for.
    """

    def __init__(self, problem: LeastSquares, n_steps: int, watched: bool):
        design: Any = problem.design
        Y, eligible = problem.Y, problem.eligible
        self.design, self.ridge = design, problem.ridge
        self.n_steps, self.watched = n_steps, watched
        self.dtype = getattr(torch, np.dtype(design.dtype).name)
        self.R = design.on_device(np.array(Y, dtype=np.float64), np.float64)  # changed below
        self.power = float(np.vdot(Y, Y))
        self.C = design.project(self.R.to(self.dtype)).T.contiguous()  # an output in every row
        norms = design.device_sq_norms().to(self.dtype)
        self.squares = torch.zeros_like(norms)
        self._square()
        self.residual = norms.clone()
        self.closed = norms <= 0
        if eligible is not None:
            self.closed |= design.on_device(~eligible)
        self.passed = torch.empty(0, dtype=torch.int64, device=design.device)
        self.spent = RANK_TOL[np.dtype(design.dtype)] * norms
        self.score = torch.zeros_like(norms)
        self.recent = self._zeros(LOOK_EVERY, len(norms), dtype=self.dtype)

        self.n_taken = 0
        # Steps taken, why the last one was not taken, and whether steps still change anything.
        self.account = torch.tensor([0, TAKEN, 1], device=design.device)
        self._reserve(min(FIRST_CAPACITY, n_steps))
        self.blocks = (
            _Blocks(design, n_steps, self.capacity) if blocks_pay(design, n_steps) else None
        )
        self._replay: dict[bool, Callable[[], None]] = {}

    def advance(self, n_steps: int) -> int:
        """Take up to so many steps, and say why the last one could not be taken."""
        blocks = self._blocks_still()
        if self.n_taken == self.capacity:
            self._reserve(min(2 * self.capacity, self.n_steps))
            self._replay.clear()
        n_steps = min(n_steps, self.capacity - self.n_taken)
        if blocks is None:
            return self._take(False, n_steps)
        if not blocks.n_read:
            blocks.read_products(self.score_all())
        why = self._take(True, min(n_steps, blocks.n_kept - self.n_taken))
        if why == UNREAD:
            blocks.read_products(self.score_all())
        if why == INEXACT:
            why = self._take(False, 1, record=False)
        return why

    def _blocks_still(self) -> _Blocks | None:
        """The blocks, until further directions would outgrow X: then a pass for every step."""
        if self.blocks is not None and self.n_taken >= self.blocks.n_kept:
            self.blocks = None
            self._replay.clear()
        return self.blocks

    def _take(self, by_blocks: bool, n_steps: int, *, record: bool = True) -> int:
        self.account[1:2].fill_(TAKEN)
        self.account[2:].fill_(1)
        step: Callable[[], None] = partial(self._step, by_blocks)
        # Recorded where that can be done and pays; the recording takes the first step.
        if record and self.design.can_record and self.n_steps >= RECORDED:
            if by_blocks not in self._replay:
                self._replay[by_blocks] = record_graph(step)
                n_steps -= 1
            step = self._replay[by_blocks]
        for _ in range(n_steps):
            step()
        self.n_taken, why, _ = self.account.tolist()
        return why

    def score_all(self) -> torch.Tensor:
        """What every feature would gain if it came next."""
        if self.ridge == 0:
            self.closed |= self.residual <= self.spent
        torch.add(self.residual, self.ridge, out=self.score)
        torch.div(self.squares, self.score, out=self.score)
        return self.score.masked_fill_(self.closed, 0.0)

    def _step(self, by_blocks: bool) -> None:
        gain, winner = torch.max(self.score_all(), dim=0)
        j, t = winner.reshape(1), self.account[:1]
        x = self.design.column_block(j)[:, 0]
        v, u, along, length, share = self._new_direction(x, t)
        why = torch.where(gain > 0, TAKEN, SPENT_ALL)
        blocks = self.blocks if by_blocks else None
        if blocks is not None:
            why = torch.where((why == TAKEN) & ~blocks.knows(j), UNREAD, why)
            why = torch.where((why == TAKEN) & (share < blocks.min_residual_share), INEXACT, why)
        going = self.account[2] > 0
        taken = going & (why == TAKEN)
        if self.watched:
            self._note_standing(t, gain)

        # What is not taken is zero, whatever came out.
        v, u = torch.where(taken, v, 0.0), torch.where(taken, u, 0.0)
        # Orthogonal to all earlier directions, v sees the target through the residual alone.
        r = torch.where(taken, (x @ self.R) / length, 0.0)
        if blocks is not None:
            p = blocks.product(j, along).mul_(torch.where(taken, 1.0 / length, 0.0))
        else:
            p = self.design.project(v.to(self.dtype)[:, None])[:, 0]
        self.C.addr_(r.to(self.dtype), p, alpha=-1.0)
        self._square()
        self.residual.addcmul_(p, p, value=-1.0)
        self.R.addr_(v, r, alpha=-1.0)
        self.closed.index_copy_(0, j, self.closed[j] | taken)
        self.recent.index_copy_(0, t % LOOK_EVERY, p[None])
        self.V.index_copy_(1, t, v[:, None])
        self.U.index_copy_(0, t, u[None])
        self.responses.index_copy_(0, t, r[None])
        self.order.index_copy_(0, t, j)
        if self.blocks is not None:
            self.blocks.taken.index_copy_(0, t, p[None])
        self.account[1:2] = torch.where(going, why, self.account[1])
        self.account[2:] = taken.to(torch.int64)
        self.account[:1] += taken.to(torch.int64)

    def _square(self) -> None:
        """||C_j||^2 of every feature, from scratch: updates would drift."""
        if len(self.C) == 1:
            torch.mul(self.C[0], self.C[0], out=self.squares)
        else:
            torch.sum(self.C * self.C, dim=0, out=self.squares)

    def _new_direction(self, x: torch.Tensor, t: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The part of a column that is new, as ``Direction`` of ``forward`` says."""
        v, along = x, torch.zeros_like(self.places, dtype=DOUBLE)
        u = (self.places == t).to(DOUBLE)
        for _ in range(2):  # the second pass removes what rounding left of the first
            inner = self.V.T @ v
            if self.ridge:
                inner = inner + self.ridge * (self.U @ u)
            v = v - self.V @ inner
            u = u - inner @ self.U
            along = along + inner
        squared = v @ v + self.ridge * (u @ u)
        length = squared.sqrt()
        return v / length, u / length, along, length, squared / (x @ x + self.ridge)

    def _note_standing(self, t: torch.Tensor, gain: torch.Tensor) -> None:
        gains = (self.squares / self.residual).masked_fill_(self.closed, 0.0)
        mean_gain = gains.sum() / (~self.closed).sum()
        parts = (gain, (self.R * self.R).sum(), mean_gain, (self.V * self.V).sum())
        self.standings.index_copy_(0, t, torch.stack([part.to(DOUBLE) for part in parts])[None])

    def standing(self, first: int, last: int) -> list[list[float]]:
        """Gain, residual, mean gain and freedom before each of these steps."""
        return self.standings[first:last].tolist()

    def gains(self) -> list[float]:
        """Decrease of the objective by every step."""
        return (self.responses[: self.n_taken] ** 2).sum(dim=1).tolist()

    def undo_steps(self, n_taken: int) -> None:
        """Undo steps of the last call of :meth:`advance`: those after the first ``n_taken``."""
        if n_taken == self.n_taken:
            return
        for t in range(n_taken, self.n_taken):
            p = self.recent[t % LOOK_EVERY]
            self.C.addr_(self.responses[t].to(self.dtype), p)
            self.R.addr_(self.V[:, t], self.responses[t])
            self.residual += p * p
            self.closed[self.order[t]] = False
        self.V[:, n_taken:] = 0.0
        self.U[n_taken:] = 0.0
        self._square()
        self.account[0] = self.n_taken = n_taken

    def pass_over(self, features: np.ndarray) -> None:
        """Close near copies of a feature that was taken, until :meth:`turn_back`."""
        places = torch.as_tensor(features, device=self.design.device)
        places = places[~self.closed[places]]
        self.closed[places] = True
        self.passed = torch.cat((self.passed, places))

    def turn_back(self) -> bool:
        """Open again what was passed over; whether that is anything."""
        found, self.passed = self.passed, self.passed[:0]
        self.closed[found] = False
        return bool(len(found))

    def _reserve(self, capacity: int) -> None:
        """Hold up to so many directions; those taken stay."""
        held = {} if self.n_taken == 0 else vars(self).copy()
        self.capacity, t = capacity, self.n_taken
        n_samples, n_outputs = self.R.shape
        self.places = torch.arange(capacity, device=self.design.device)
        self.V = self._zeros(n_samples, capacity)
        self.U = self._zeros(capacity, capacity)
        self.responses = self._zeros(capacity, n_outputs)
        self.standings = self._zeros(capacity, 4)
        self.order = self._zeros(capacity, dtype=torch.int64)
        if held:
            self.V[:, :t] = held["V"][:, :t]
            self.U[:t, :t] = held["U"][:t, :t]
            for name in ("responses", "standings", "order"):
                getattr(self, name)[:t] = held[name][:t]
            if self.blocks is not None:
                self.blocks.reserve(capacity)

    def _zeros(self, *size: int, dtype: torch.dtype = DOUBLE) -> torch.Tensor:
        return torch.zeros(size, dtype=dtype, device=self.design.device)


class _Blocks:
    """Products of all features with promising columns, and with the directions taken."""

    def __init__(self, design: Any, n_steps: int, capacity: int):
        n_samples, n_features = design.shape
        self.design = design
        self.at_once = min(design.columns_at_once, n_features)
        self.n_kept = min(n_steps, n_samples // MIN_ROWS_PER_COLUMN_HELD // 2, n_features)
        self.min_residual_share = MIN_RESIDUAL_SHARE[np.dtype(design.dtype)]
        self.n_read = 0
        self.products = self._zeros(KEPT_BLOCKS * self.at_once)
        self.slots = torch.full((n_features,), -1, device=design.device)
        self.columns: list[Any] = [None] * KEPT_BLOCKS
        self.taken = self._zeros(capacity)

    def reserve(self, capacity: int) -> None:
        """Hold the products of so many directions."""
        taken = self._zeros(capacity)
        taken[: len(self.taken)] = self.taken
        self.taken = taken

    def knows(self, j: torch.Tensor) -> torch.Tensor:
        """Whether the products with a feature were read."""
        return self.slots[j][0] >= 0

    def product(self, j: torch.Tensor, along: torch.Tensor) -> torch.Tensor:
        """Products with what is new of a feature; anything where they are not known."""
        own = self.products.index_select(0, self.slots[j].clamp(min=0))[0]
        return own.addmv_(self.taken.T, along.to(own.dtype), alpha=-1.0)

    def read_products(self, score: torch.Tensor) -> None:
        """Take the products with the winner and the most promising columns beside it."""
        turn = self.n_read % KEPT_BLOCKS
        if self.columns[turn] is not None:
            self.slots[self.columns[turn]] = -1  # the oldest are the least likely to win still
        unknown = torch.where(self.slots < 0, score, -1.0)
        unknown.index_fill_(0, torch.max(score, dim=0).indices, torch.inf)
        places = unknown.topk(self.at_once).indices
        columns = self.design.column_block(places).to(self.products.dtype)
        first = turn * self.at_once
        self.products[first : first + self.at_once] = self.design.project(columns).T
        self.slots[places] = torch.arange(first, first + self.at_once, device=places.device)
        self.columns[turn] = places
        self.n_read += 1

    def _zeros(self, n_rows: int) -> torch.Tensor:
        dtype = getattr(torch, np.dtype(self.design.dtype).name)
        return torch.zeros((n_rows, self.design.shape[1]), dtype=dtype, device=self.design.device)


def record_graph(function: Callable[[], None]) -> Callable[[], None]:
    """Do it once, and have it as a recording that is played with one call."""
    here = torch.cuda.current_stream()
    aside = _side_stream(here.device)
    graph = torch.cuda.CUDAGraph()
    aside.wait_stream(here)
    with torch.cuda.stream(aside):
        function()  # what libraries prepare at the first call is not recorded
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            function()
        finally:
            graph.capture_end()
    here.wait_stream(aside)
    return graph.replay


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One for all recordings: libraries keep memory for every stream that they worked on."""
    return torch.cuda.Stream(device)


def device_path(
    problem: LeastSquares, n_steps: int, stop: EndRule | None, callback: Callback | None
) -> Result[ForwardPath]:
    """The path of a design on a device."""
    from ._torch_passes import exactly

    with exactly():
        path = DevicePath(problem, n_steps, watched=stop is not None)
        company = None if problem.redundancy is None else Company(problem.redundancy)
        ended = n_steps == 0
        while not ended and path.n_taken < n_steps:
            first = path.n_taken
            why = path.advance(min(LOOK_EVERY, n_steps - first))
            ended = why == SPENT_ALL
            if company is not None and (near := _first_copy(path, first, company)) is not None:
                path.pass_over(company.redundancy.copies(near))
                ended = False
            last, enough = _count_steps(path, first, stop, callback)
            ended |= enough
            path.undo_steps(last)
            if ended and not enough and stop is None and path.turn_back():
                company, ended = None, False  # all others are used up
        path.turn_back()
        t = path.n_taken
        dtype = np.dtype(problem.design.dtype)
        return path_result(
            path.power,
            path.order[:t].tolist(),
            path.gains(),
            path.score_all().to(DOUBLE).cpu().numpy(),
            path.U[:t, :t].cpu().numpy().astype(dtype),
            path.responses[:t].cpu().numpy().astype(dtype),
        )


def _first_copy(path: DevicePath, first: int, company: Company) -> int | None:
    """Undo the steps from the first on that took a near copy; what it is a copy of."""
    entered = path.order[first : path.n_taken].tolist()
    company.load(entered)
    for t, j in enumerate(entered, first):
        near = company.closest(j)
        if near is not None:
            path.undo_steps(t)
            return near
        company.add(j)
    return None


def _count_steps(path: DevicePath, first: int, stop: Any, callback: Any) -> tuple[int, bool]:
    """How many of the steps so far are wanted, and whether they are enough.

    Those before ``first`` were asked about before.
    """
    standings = [] if stop is None else path.standing(first, path.n_taken)
    gains = [] if callback is None else path.gains()
    for t in range(first, path.n_taken):
        if stop is not None and stop(Standing(t, *standings[t - first])):
            return t, True
        if callback is not None:
            note = f"feature {int(path.order[t])} entered"
            left = path.power - sum(gains[: t + 1])
            if callback(Event(t + 1, left, n_features=t + 1, note=note)):
                return t + 1, True
    return path.n_taken, False
