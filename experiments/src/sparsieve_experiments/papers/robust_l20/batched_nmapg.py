"""The published method for the robust l2,0 model, for many problems at a time on one device.

The iteration is that of :mod:`.nmapg`, problem by problem: every problem has a step size, momentum,
stages and an end of its own. Nothing in it waits for the host, which looks every few iterations
whether all problems have ended.

The second proximal step of an iteration, from W instead of from the extrapolated point, is seldom
needed, and whether it is would have to be asked of the device every time. So a block of
iterations is done without it; if a problem needed it after all, the block is done again with both
steps for everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from sparsieve.papers.robust_l20.published import NonmonotoneAPG
from sparsieve.penalties.concave import largest
from sparsieve.solvers.robust.problem import RobustRegression

from .batched_data import BatchedFit, Repeated, Stacked, at_work, longest, pieces, stacked

WORKING_COPIES = 24  # arrays of the size of (W, XW) that an iteration may hold


class Chain(NamedTuple):
    """Numbers of features to solve for, each from the solution before; the first from zero."""

    rho: Sequence[float]  # strength of the penalty for every part
    ks: Sequence[int]


def batched_nmapg(
    solver: NonmonotoneAPG,
    parts: Sequence[RobustRegression],
    chains: Sequence[Chain],
    device: torch.device,
) -> list[list[list[BatchedFit]]]:
    """All chains on all parts at once: what came of part, chain and number of features.

    The features are those of the longest rows. A chain of one number starts from zero as ever, so
    that chains of one number each are many independent problems.
    """
    n, d = max(len(part.Y) for part in parts), parts[0].design.shape[1]
    c = max(part.Y.shape[1] for part in parts)
    length = max(len(chain.ks) for chain in chains)
    working = 8.0 * (WORKING_COPIES * c * (n + d) + (length + 1) * d)
    found: list[list[list[BatchedFit]]] = [[] for _ in parts]
    for few, some in pieces(len(parts), len(chains), 8.0 * n * d, working, device):
        with at_work(device, f"for nmAPG on {len(parts[few])} matrices of {n} x {d}"):
            data = stacked(parts[few], device)
            these = [Chain(chain.rho[few], chain.ks) for chain in chains[some]]
            fits = _solved(solver, data, parts[few], these)
        for place, part in enumerate(fits):
            found[few.start + place] += part
    return found


def _solved(solver, data, parts, chains) -> list[list[list[BatchedFit]]]:
    run = _Run(solver, data, parts, chains)
    now = run.start()
    plainly, carefully = Repeated(run.step, now), None
    careful = False
    while bool(now.active.any()):
        after = now if careful else plainly(now)
        if careful or bool(after.short.any()):
            carefully = carefully or Repeated(run.careful_step, now)
            after = carefully(now)
        careful = bool(after.short.any())
        now = after._replace(short=torch.zeros_like(after.short))
    return run.fits()


class _Problem(NamedTuple):
    """What every problem is about at the moment."""

    mu: torch.Tensor
    k: torch.Tensor
    tau: torch.Tensor
    rho: torch.Tensor

    def twice(self) -> _Problem:
        """All problems, and all again."""
        return _Problem(*(torch.cat([each, each], dim=1) for each in self))


class _Point(NamedTuple):
    """Something like W: (W, intercept, XW) along the last axis, and what is known of it."""

    all: torch.Tensor
    norms: torch.Tensor  # of the rows of W
    off: torch.Tensor  # norms of the residuals
    sums: torch.Tensor  # of the norms of the longest row, the two longest rows, ...
    gap: torch.Tensor  # sum of the norms of all but the K longest rows

    def halves(self) -> tuple[_Point, _Point]:
        """Of all problems and all again, the first and the second."""
        pairs = [each.chunk(2, dim=1) for each in self]
        return _Point(*(pair[0] for pair in pairs)), _Point(*(pair[1] for pair in pairs))

    def where(self, chosen: torch.Tensor, other: _Point) -> _Point:
        """Itself for the problems chosen, the other one for the rest."""
        return _Point(
            *(
                torch.where(chosen.view(chosen.shape + (1,) * (mine.dim() - 2)), mine, theirs)
                for mine, theirs in zip(self, other, strict=True)
            )
        )


class _State(NamedTuple):
    """Where all problems stand; one number for every problem, except for the points."""

    W: torch.Tensor  # as a point
    norms: torch.Tensor
    off: torch.Tensor
    sums: torch.Tensor
    gap: torch.Tensor
    last: torch.Tensor  # W before, with its intercept and image
    Z: torch.Tensor
    t_last: torch.Tensor  # 0 where a stage begins
    t: torch.Tensor
    average: torch.Tensor
    q: torch.Tensor
    objective: torch.Tensor
    n_stage: torch.Tensor  # iterations in this stage
    n_iter: torch.Tensor  # and for this number of features
    level: torch.Tensor  # the stage
    place: torch.Tensor  # in the chain
    active: torch.Tensor
    short: torch.Tensor  # whether a second proximal step was due, since somebody looked

    @property
    def point(self) -> _Point:
        """W and what is known of it."""
        return _Point(self.W, self.norms, self.off, self.sums, self.gap)


class _Run:
    """What does not change, and the results. Shapes are (parts, chains) and more to the right."""

    def __init__(
        self,
        solver: NonmonotoneAPG,
        data: Stacked,
        parts: Sequence[RobustRegression],
        chains: Sequence[Chain],
    ):
        self.solver, self.data, self.chains = solver, data, chains
        self.alpha = parts[0].alpha  # the same for all parts
        self.shape = (len(parts), len(chains))
        self.d = data.n_features
        constants = [solver.lipschitz(part) for part in parts]
        levels = [list(solver.levels(part)) for part in parts]
        self.n_levels = data.tensor([[len(some)] for some in levels], torch.int64)
        many = max(len(some) for some in levels)
        self.mu = data.tensor([some + some[-1:] * (many - len(some)) for some in levels])
        self.lipschitz = data.tensor(constants)[:, None]
        self.rho = data.tensor([chain.rho for chain in chains]).T.contiguous()
        length = max(len(chain.ks) for chain in chains)
        ks = [[*chain.ks, *[chain.ks[-1]] * (length - len(chain.ks))] for chain in chains]
        self.ks = data.tensor(ks, torch.int64)
        self.lengths = data.tensor([len(chain.ks) for chain in chains], torch.int64)
        self.most = max(max(chain.ks) for chain in chains)
        self.stage_iter = solver.max_iter if solver.mu is not None else solver.stage_iter
        # What is written where no problem has ended goes to one place too many.
        kept = (*self.shape, length + 1)
        self.kept_norms = torch.zeros((*kept, self.d), dtype=self.mu.dtype, device=self.mu.device)
        self.kept = {name: self.kept_norms.new_zeros(kept) for name in ("value", "n_iter", "end")}

    def start(self) -> _State:
        """W = 0."""
        Y, weights = self.data.Y, self.data.weights
        c, n = Y.shape[2:]
        zeros = weights.new_zeros(self.shape)
        at_zero = _Point(
            weights.new_zeros((*self.shape, c, self.d + 1 + n)),
            weights.new_zeros((*self.shape, self.d)),
            torch.linalg.vector_norm(Y, dim=2).expand(*self.shape, n),
            weights.new_zeros((*self.shape, min(self.most, self.d))),
            zeros,
        )
        count = zeros.to(torch.int64)
        state = _State(
            *at_zero, at_zero.all, at_zero.all, zeros, zeros + 1, zeros, zeros + 1, zeros,
            count, count, count, count, count == 0, count > 0,
        )  # fmt: skip
        return state._replace(average=self._smooth_objective(at_zero, self._problem(state)))

    def step(self, state: _State) -> _State:
        """One iteration, unless a problem needs the second proximal step."""
        problem, U = self._problem(state), _ahead(state)
        Z = self._proximal_step(U, problem)
        value = self._smooth_objective(Z, problem)
        return self._moved(state, Z, Z, value, self._falls_short(state, problem, U, Z, value))

    def careful_step(self, state: _State) -> _State:
        """One iteration with both proximal steps."""
        problem, U = self._problem(state), _ahead(state)
        twice = problem.twice()
        both = self._proximal_step(torch.cat([U, state.W], dim=1), twice)
        (Z, V), (value, other) = both.halves(), self._smooth_objective(both, twice).chunk(2, dim=1)
        short = self._falls_short(state, problem, U, Z, value)
        better = ~short | (value <= other)
        value = torch.where(better, value, other)
        return self._moved(state, Z, Z.where(better, V), value, short)

    def fits(self) -> list[list[list[BatchedFit]]]:
        """The results, on the host."""
        norms = self.kept_norms.cpu().numpy()
        value, n_iter, end = (self.kept[name].cpu().numpy() for name in self.kept)
        return [
            [
                [
                    BatchedFit(
                        int(k),
                        largest(norms[part, place, i], k),
                        float(value[part, place, i]),
                        int(n_iter[part, place, i]),
                        bool(end[part, place, i]),
                    )
                    for i, k in enumerate(chain.ks)
                ]
                for place, chain in enumerate(self.chains)
            ]
            for part in range(self.shape[0])
        ]

    def _problem(self, state: _State) -> _Problem:
        mu = self.mu.gather(1, state.level)
        ks = self.ks.expand(self.shape[0], -1, -1).gather(2, state.place[..., None])[..., 0]
        return _Problem(mu, ks, 2.0 * self.lipschitz / mu, self.rho)

    def _falls_short(self, state: _State, problem: _Problem, U, Z: _Point, value) -> torch.Tensor:
        """Where the step from the point ahead does not lower the objective enough."""
        end = self.d + 1  # coefficients and intercept
        # delta / 2 with delta a tenth of tau minus the Lipschitz constant, which is half of tau.
        drop = 0.025 * problem.tau * _norm(Z.all[..., :end] - U[..., :end]).square()
        return state.active & (value > state.average - drop)

    def _moved(self, state: _State, Z: _Point, new: _Point, value, short) -> _State:
        """The state at the new point; then the end of stages."""
        q = self.solver.eta * state.q + 1.0
        objective = (self.data.weights * new.off).sum(-1) + self.alpha * new.norms.sum(-1)
        objective = objective + self.rho * new.gap
        after = state._replace(
            **dict(zip(("W", "norms", "off", "sums", "gap"), new, strict=True)),
            last=state.W,
            Z=Z.all,
            t_last=state.t,
            t=0.5 * (torch.sqrt(4.0 * state.t**2 + 1.0) + 1.0),
            average=(self.solver.eta * state.q * state.average + value) / q,
            q=q,
            objective=objective,
            n_stage=state.n_stage + 1,
            n_iter=state.n_iter + 1,
            short=state.short | short,
        )
        end = self.d + 1
        moved = _norm(new.all[..., :end] - state.W[..., :end])
        arrived = moved <= self.solver.step_tol * _norm(new.all[..., :end]).clamp(min=1.0)
        change = (objective - state.objective).abs()
        arrived |= (after.n_iter > 1) & (change <= self.solver.tol * objective.abs())
        return self._next_stage(after, arrived)

    def _proximal_step(self, U: torch.Tensor, problem: _Problem) -> _Point:
        d = self.d
        mu, step = problem.mu[..., None], 1.0 / problem.tau[..., None]
        R = U[..., d + 1 :] - self.data.Y
        lengths = torch.linalg.vector_norm(R, dim=2).clamp_(min=mu)
        slopes = R.mul_((self.data.weights / lengths)[:, :, None])
        rows = U[..., :d]
        shrunk = 1.0 - self.alpha * step / torch.linalg.vector_norm(rows, dim=2).clamp_(min=mu)
        W = self.data.gradients(slopes).mul_(-step[..., None]).addcmul_(rows, shrunk[:, :, None])
        intercept = U[..., d : d + 1] - step[..., None] * slopes.sum(-1, keepdim=True)
        # The K longest rows stay as they are, and stay the longest.
        norms = torch.linalg.vector_norm(W, dim=2)
        among, order = longest(norms, problem.k, self.most)
        threshold = problem.rho[..., None] * step
        kept = torch.where(norms > threshold, 1.0 - threshold / norms, 0.0)
        kept = torch.where(among, 1.0, kept)
        W.mul_(kept[:, :, None])
        norms = norms * kept
        image = self.data.images(W).add_(intercept)
        return _Point(
            torch.cat([W, intercept, image], dim=-1),
            norms,
            torch.linalg.vector_norm(image.sub_(self.data.Y), dim=2),
            norms.gather(-1, order).cumsum(-1),
            torch.where(among, 0.0, norms).sum(-1),
        )

    def _smooth_objective(self, at: _Point, problem: _Problem) -> torch.Tensor:
        """The smoothed objective, where the gap of ``at`` is for the K of the problem."""
        mu = problem.mu[..., None]
        loss = (self.data.weights * _smoothed_norms(at.off, mu)).sum(-1)
        return loss + self.alpha * _smoothed_norms(at.norms, mu).sum(-1) + problem.rho * at.gap

    def _next_stage(self, state: _State, arrived: torch.Tensor) -> _State:
        """Where a stage is over: keep what the last one of a K has found, and begin the next."""
        spent = state.n_iter >= self.solver.max_iter
        over = arrived | spent | (state.n_stage >= self.stage_iter)
        solved = over & (spent | (state.level + 1 >= self.n_levels))
        self._keep(state, arrived, solved)
        last = state.place + 1 >= self.lengths
        state = state._replace(
            t_last=torch.where(over, 0.0, state.t_last),
            t=torch.where(over, 1.0, state.t),
            q=torch.where(over, 1.0, state.q),
            n_stage=torch.where(over, 0, state.n_stage),
            n_iter=torch.where(solved, 0, state.n_iter),
            level=torch.where(solved, 0, state.level + over),
            place=state.place + (solved & ~last),
            active=state.active & ~(solved & last),
        )
        problem = self._problem(state)
        within = problem.k.clamp(max=self.d)[..., None] - 1
        gap = state.norms.sum(-1) - state.sums.gather(-1, within)[..., 0]
        average = self._smooth_objective(state.point._replace(gap=gap), problem)
        return state._replace(average=torch.where(over, average, state.average))

    def _keep(self, state: _State, arrived: torch.Tensor, solved: torch.Tensor) -> None:
        """Write what was found for a K to its place; what is no end yet to the place too many."""
        nowhere = self.kept_norms.shape[2] - 1
        place = torch.where(solved & state.active, state.place, nowhere)[..., None]
        self.kept_norms.scatter_(
            2, place[..., None].expand(-1, -1, 1, self.d), state.norms[:, :, None]
        )
        for name, values in (
            ("value", state.objective),
            ("n_iter", state.n_iter),
            ("end", arrived),
        ):
            self.kept[name].scatter_(2, place, values[..., None].to(self.kept[name].dtype))


def _smoothed_norms(norms: torch.Tensor, mu: torch.Tensor) -> torch.Tensor:
    """norm^2 / (2 mu) up to mu, norm - mu / 2 beyond."""
    short = torch.minimum(norms, mu)
    return short * (norms - 0.5 * short) / mu


def _ahead(state: _State) -> torch.Tensor:
    """The extrapolated point; W itself where a stage begins."""
    ahead = state.t_last / state.t
    back = torch.where(state.t_last == 0, 0.0, (state.t_last - 1.0) / state.t)
    U = state.W * _wide(1.0 - ahead + back)
    return U.addcmul_(_wide(ahead), state.Z).addcmul_(_wide(back), state.last, value=-1.0)


def _norm(values: torch.Tensor) -> torch.Tensor:
    """Norm of every problem's matrix."""
    return torch.linalg.vector_norm(values, dim=(2, 3))


def _wide(values: torch.Tensor) -> torch.Tensor:
    """A number for every problem, to go with its matrix."""
    return values[..., None, None]
