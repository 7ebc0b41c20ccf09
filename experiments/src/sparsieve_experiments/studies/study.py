"""A study as data: data sets x selectors x splits, scored at all ks with all models."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sparsieve._checks import check_choice, check_flag, check_integer
from sparsieve._version import __version__
from sparsieve.scoring.curves import OWN, check_request
from sparsieve.scoring.metrics import RESERVED
from sparsieve.scoring.models import CLASSIFIERS, MODELS, REGRESSORS, TASKS, choose_metrics
from sparsieve.scoring.protocol import (
    PROTOCOLS,
    Protocol,
    RepeatedSplits,
    Split,
    TimeOrdered,
    derive_seed,
)
from sparsieve.scoring.scorers import Score, able_models, check_models, resolve_scores

from .guest_code import code_of
from .kinds import StudyError, check_kinds, check_known, read_toml, shortened
from .selector_spec import SelectorSpec
from .sources import DatasetSpec, StudyData
from .store_reader import FORMAT
from .wrapped import CHOOSES_COUNT, built, why_not

_MAX_CELLS = 1_000_000
_CLASSIFIERS = tuple(CLASSIFIERS)  # known by identity: nobody asked for these


@dataclass(frozen=True)
class Cell:
    """One selection of a study: what to compute (``spec``, plain data), where, and its name."""

    key: str
    spec: dict
    split: Split

    def solved_by(self, code: str) -> Cell:
        """The same cell, identified by the code that computes it as well."""
        key = hashlib.sha256(f"{self.key} {code}".encode()).hexdigest()
        return replace(self, key=key, spec={**self.spec, "solvers": code})


@dataclass(frozen=True)
class Study:
    """Data sets x selectors x splits, scored at all ks with all models.

    Data sets with classes and with numbers as their target may stand beside each other; their
    scores are never mixed. A selector that cannot take the target of a data set is left out there.

    Parameters
    ----------
    name : str
        By which the store knows it.
    datasets : sequence of DatasetSpec or str
        Text is the name of a data set, see :func:`sparsieve.datasets.list_datasets`.
    selectors : sequence of SelectorSpec or str
        Text is the name of a method, see ``sparsieve methods``.
    protocol : RepeatedSplits, Folds or TimeOrdered, default=RepeatedSplits()
        The same splits serve every selector. Data sets that name groups are split by them.
    ks : sequence of int or "own"
        Numbers of features, or what every model itself keeps.
    classifiers : sequence of {"1nn", "5nn", "svm", "softmax"}
        Score selections for classes. If not given, all of them; all but "svm", which has no
        probabilities, where a score needs these.
    scoring : sequence of str
        Names of scores. For classes "accuracy", "balanced_accuracy", "mcc", "f1" (the mean over the
        classes) and those of scikit-learn, such as "roc_auc", "f1_weighted" or "neg_log_loss"; for
        numbers "r2", "mae", "spearman" and those of scikit-learn, such as
        "neg_root_mean_squared_error". Every data set is scored by those that suit its target, or
        by accuracy, mcc and f1, or r2, mae and spearman, where none does. The first decides, also
        in inner tuning. Study files may call it ``metrics``.
    zscore : bool, default=True
        Centre and scale by the training part before selecting.
    seed : int, default=0
        Decides all splits and all random selectors, whatever the order of the work.
    regressors : sequence of {"ridge", "5nn", "svr"}
        Score selections for numbers.
    allow_import : bool, default=False
        Whether selectors may be named "package.module:Class", which runs code of that package. A
        study file cannot say so itself.

    See Also
    --------
    sparsieve_experiments.studies.run_study : Computes a study.
    sparsieve_experiments.studies.DatasetSpec : A data set of a study.
    sparsieve_experiments.studies.SelectorSpec : A selector of a study.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import Study, run_study
    >>> study = Study("small", ["wine"], ["fisher"], Folds(3), ks=[2, 4], classifiers=["svm"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_study(study, pathlib.Path(folder) / "small.sqlite")
    >>> outcome.done, outcome.failed
    (3, 0)
    """

    name: str
    datasets: Sequence[DatasetSpec | str]
    selectors: Sequence[SelectorSpec | str]
    protocol: Protocol = field(default_factory=RepeatedSplits)
    ks: Sequence[int] | str = (5, 10, 20, 50)
    classifiers: Sequence[str] = _CLASSIFIERS
    scoring: Sequence[str] = ("accuracy", "mcc", "f1")
    zscore: bool = True
    seed: int = 0
    regressors: Sequence[str] = tuple(REGRESSORS)
    allow_import: bool = False

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        kinds = {
            "datasets": "a list",
            "selectors": "a list",
            "ks": 'a list or "own"',
            "classifiers": "a list of texts",
            "regressors": "a list of texts",
            "scoring": "a list of texts",
        }
        if isinstance(self.scoring, str):
            put("scoring", (self.scoring,))
        check_kinds(vars(self), kinds, "a study")
        if not isinstance(self.name, str) or not self.name.strip():
            raise StudyError("a study needs a name")
        check_flag("allow_import", self.allow_import)
        allowed = {"allow_import": self.allow_import}
        put("datasets", tuple(_made(DatasetSpec, spec) for spec in self.datasets))
        put("selectors", tuple(_made(SelectorSpec, s, allowed) for s in self.selectors))
        if not isinstance(self.protocol, tuple(PROTOCOLS.values())):
            raise StudyError(
                f"protocol must be RepeatedSplits, Folds or TimeOrdered, got {self.protocol!r}"
            )
        _scores(self.scoring, TASKS[0])
        given = {"classification": self.classifiers, "regression": self.regressors}
        for task, models in given.items():
            scores = _scores(choose_metrics(task, self.scoring), task)
            if models is _CLASSIFIERS:
                put("classifiers", tuple(able_models(scores, task)))
                continue
            check_request(self.ks, models, task=task)
            check_models(scores, task, models)
        check_flag("zscore", self.zscore)
        check_integer("seed", self.seed, minimum=0)
        for kind, names in (
            ("data set", [spec.name for spec in self.dataset_specs]),
            ("selector", [spec.label for spec in self.selector_specs]),
        ):
            if not names:
                raise StudyError(f"a study needs at least one {kind}")
            for name in names:
                if names.count(name) > 1:
                    raise StudyError(f"{kind} {name!r} is listed twice; give one another name")
        seen: dict[str, str] = {}
        for spec in self.selector_specs:
            self._check_count(spec)
            what = json.dumps(
                [spec.name, spec.parameters, spec.grid, spec.tuning, spec.before], sort_keys=True
            )
            if what in seen:
                raise StudyError(
                    f"{spec.label!r} and {seen[what]!r} are the same selector with the same "
                    "parameters; keep one"
                )
            seen[what] = spec.label

    def _check_count(self, spec: SelectorSpec) -> None:
        """Numbers of features come from one place: the study, or the selector with ks = "own"."""
        if isinstance(self.ks, str):
            return
        if spec.name == CHOOSES_COUNT:
            raise StudyError(
                f"{spec.name} chooses how many features to keep, so a study with numbers has no "
                f'use for it; set ks = "{OWN}", or name the selector inside it'
            )
        if "n_features_to_select" in (*spec.parameters, *spec.grid):
            raise StudyError(f"{spec.name}: ks of the study says how many features to select")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], *, allow_import: bool = False) -> Study:
        """Read a study from a TOML file; data files are found relative to it.

        Parameters
        ----------
        path : str or path
            See ``examples/study.toml``.
        allow_import : bool, default=False
            Whether its selectors may be named "package.module:Class".

        Returns
        -------
        study : Study
        """
        path = Path(path)
        content = read_toml(path)
        try:
            content = {"name": path.stem, **content}
            return cls.from_dict(content, folder=path.parent, allow_import=allow_import)
        except (ValueError, TypeError) as error:
            raise StudyError(f"{path.name}: {error}") from None

    @classmethod
    def from_dict(
        cls,
        content: Mapping[str, Any],
        folder: str | os.PathLike[str] | None = None,
        *,
        allow_import: bool = False,
    ) -> Study:
        """Make a study from plain data, as a TOML file holds it.

        Parameters
        ----------
        content : dict
            The parameters of the class; data sets, selectors and the protocol as dicts.
        folder : path, default=None
            Where relative data files are looked for.
        allow_import : bool, default=False
            Whether its selectors may be named "package.module:Class"; ``content`` cannot say so.

        Returns
        -------
        study : Study

        Examples
        --------
        >>> from sparsieve_experiments.studies import Study
        >>> study = Study.from_dict({
        ...     "name": "small", "datasets": ["wine"], "selectors": ["fisher"], "ks": [3],
        ...     "protocol": {"kind": "folds", "n_folds": 3}})
        >>> study.protocol
        Folds(n_folds=3, n_repeats=1, grouped=False)
        """
        check_kinds({"content": content}, {"content": "a table"}, "a study")
        content = dict(content)
        if "metrics" in content and "scoring" not in content:  # what files called it before
            content["scoring"] = content.pop("metrics")
        check_known(content, cls, "a study")
        kinds = {"datasets": "a list", "selectors": "a list", "protocol": "a table"}
        check_kinds(content, kinds, "a study")
        protocol = dict(content.pop("protocol", {"kind": "splits"}))
        kind = protocol.pop("kind", None)
        check_choice("kind of the protocol", kind, PROTOCOLS)
        check_known(protocol, PROTOCOLS[kind], f"a protocol of kind {kind!r}")
        lists: dict[str, Any] = {}
        allowed: dict[str, Any] = {"allow_import": allow_import}
        for name, made, what, more in (
            ("datasets", DatasetSpec, "a data set", {}),
            ("selectors", SelectorSpec, "a selector", allowed),
        ):
            lists[name] = []
            for item in content.pop(name, ()):
                if isinstance(item, Mapping):
                    check_kinds({what: item}, {what: "a table"}, "a study")
                    check_known(item, made, what)
                    if "name" not in item:
                        raise StudyError(f"{what} needs a name: {dict(item)}")
                    item = made(**item, **more)
                lists[name].append(_made(made, item, more))
        if folder is not None:
            lists["datasets"] = [spec.relative_to(folder) for spec in lists["datasets"]]
        return cls(**content, **lists, **allowed, protocol=PROTOCOLS[kind](**protocol))

    @property
    def dataset_specs(self) -> tuple[DatasetSpec, ...]:
        """The data sets, those given by name as specs too."""
        return tuple(spec for spec in self.datasets if isinstance(spec, DatasetSpec))

    @property
    def selector_specs(self) -> tuple[SelectorSpec, ...]:
        """The selectors, those given by name as specs too."""
        return tuple(spec for spec in self.selectors if isinstance(spec, SelectorSpec))

    def cells(self, data: StudyData) -> list[Cell]:
        """Every cell of one data set, in order: splits outside, selectors inside."""
        per_split = sum(1 for spec in self.selector_specs for _ in spec.variants())
        n_splits = self.protocol.n_splits
        if n_splits * per_split > _MAX_CELLS:
            raise StudyError(
                f"a study may have {_MAX_CELLS:,} selections of one data set; {n_splits:,} splits "
                f"with {per_split:,} models each are more"
            )
        unable = self.left_out(data)
        able = [spec for spec in self.selector_specs if spec.label not in unable]
        if not able:
            reasons = "; ".join(f"{label} {why}" for label, why in unable.items())
            raise StudyError(f"no selector of the study can be used for {data.name!r}: {reasons}")
        protocol = self._protocol_for(data)
        splits = protocol.splits(
            data.y,
            data.groups if data.grouped or getattr(protocol, "grouped", False) else None,
            seed=self.seed,
            stratified=data.task == "classification",
            time=data.times,
        )
        fingerprint, codes = data.fingerprint, self.codes()
        return [
            self._cell(
                data, fingerprint, codes[selector.label], protocol, split, selector, parameters
            )
            for split in splits
            for selector in able
            for parameters in selector.variants()
        ]

    def codes(self) -> dict[str, str]:
        """Digests of the code of guests by the selectors' labels; "" of those without guests.

        A StudyError says that a file was edited after Python had imported it.
        """
        guests = {spec.label: spec.guests() for spec in self.selector_specs}
        return {label: code_of(names) if names else "" for label, names in guests.items()}

    def left_out(self, data: StudyData) -> dict[str, str]:
        """Selectors, by label, that cannot take the target of a data set, and why."""
        found = {}
        for spec in self.selector_specs:
            try:
                selector = built(
                    *(spec.name, spec.parameters), task=data.task, allow_import=spec.allow_import
                )
                why = why_not(selector, data.y, data.task)
            except StudyError as error:
                why = f"cannot be made: {error}"
            if why:
                found[spec.label] = why
        return found

    def _protocol_for(self, data: StudyData) -> Protocol:
        """The protocol, by groups where a data set names them: nobody wants them torn apart."""
        protocol = self.protocol
        if not data.grouped or isinstance(protocol, TimeOrdered) or protocol.grouped:
            return protocol
        if isinstance(protocol, RepeatedSplits) and protocol.per_class:
            raise StudyError(
                f"data set {data.name!r} names groups, which mix classes; leave out per_class"
            )
        return replace(protocol, grouped=True)

    def _cell(
        self,
        data: StudyData,
        fingerprint: str,
        code: str,
        protocol: Protocol,
        split: Split,
        selector: SelectorSpec,
        parameters: dict[str, Any],
    ) -> Cell:
        identity = {
            "dataset": data.name,
            "fingerprint": fingerprint,
            "description": data.description,
            "grouped": data.grouped or bool(getattr(protocol, "grouped", False)),
            "selector": selector.name,
            "parameters": parameters,
            "tuning": selector.tuning,
            "protocol": protocol.as_dict(),
            "repeat": split.repeat,
            "fold": split.fold,
            "ks": OWN if isinstance(self.ks, str) else sorted(set(self.ks)),
            "classifiers": list(self.classifiers),
            "metrics": choose_metrics(data.task, self.scoring),
            "zscore": self.zscore,
            "study_seed": self.seed,
            "version": __version__,
            "format": FORMAT,
        }
        if selector.tuning == "inner-cv":
            identity.update(grid=selector.grid, inner_folds=selector.inner_folds)
        if data.task != "classification":
            models = self.regressors if data.task == "regression" else MODELS[data.task]
            identity.update(task=data.task, classifiers=list(models))
        if selector.before:
            identity.update(before=selector.before)
        if code:
            identity.update(code=code)
        text = json.dumps(identity, sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()
        # The seed is the same for all ks, classifiers and versions: it belongs to the selection.
        seed = derive_seed(
            self.seed, fingerprint, selector.name, parameters, split.repeat, split.fold
        )
        n_samples, n_features = data.X.shape
        shown: dict[str, Any] = {
            "label": selector.label,
            "n_samples": n_samples,
            "n_features": n_features,
            "read_as": data.read_as,
        }
        if selector.allow_import:
            shown["allow_import"] = True
        if code:
            shown["guests"] = selector.guests()
        return Cell(key, {**identity, **shown, "seed": seed}, split)


def _scores(scoring: Sequence[str], task: str) -> dict[str, Score]:
    for name in scoring:
        if name in RESERVED:
            raise StudyError(
                f"{name} is the share of relevant features in the tables of a study; use "
                f"{name}_macro as a score"
            )
    return resolve_scores(list(scoring), task, short_names=True)


def study_name(path: Path) -> str:
    """The name of the study in a TOML file, whose selectors need not be imported for it."""
    name = read_toml(path).get("name", path.stem)
    if not isinstance(name, str) or not name.strip():
        raise StudyError(f"{path.name}: a study needs a name")
    return name


def _made(cls: type, spec: Any, more: Mapping[str, Any] | None = None) -> Any:
    made = cls(spec, **(more or {})) if isinstance(spec, str) else spec
    if not isinstance(made, cls):
        kind = "data set" if cls is DatasetSpec else "selector"
        raise StudyError(f"a {kind} must be a name or a {cls.__name__}, got {shortened(spec)}")
    return made
