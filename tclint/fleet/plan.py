"""From FLEET.toml to units of work: targets times arms, each with the key of what it depends on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tclint.cache.identity import code_files
from tclint.config import Config, effective, load_config
from tclint.files import expanded
from tclint.fleet.config import Arm, Fleet, FleetError
from tclint.fleet.environment import Environment, ask_environment
from tclint.fleet.measure import digest_file
from tclint.fleet.targets import Target, find_targets
from tclint.fleet.units import CodeFile, Measured, Unit, failed
from tclint.records import record
from tclint.source.discovery import discover
from tclint.verify.errors import TargetError
from tclint.verify.trees import before_tree

_VERSION = 1
"""Another one makes all results be measured again: what a result means has changed."""


@record(frozen=True)
class ArmFacts:
    """An arm of a run with what its interpreter turned out to have."""

    arm: Arm
    environment: Environment


@record(frozen=True)
class Plan:
    """The units of a run, in their order, and those of which is known that they cannot run."""

    arms: tuple[ArmFacts, ...]
    units: tuple[Unit, ...]
    hopeless: tuple[tuple[Unit, Measured], ...] = ()

    @property
    def all_units(self) -> tuple[Unit, ...]:
        """Every unit of the run."""
        return (*self.units, *(unit for unit, _ in self.hopeless))

    @property
    def digest(self) -> str:
        """Stands for what is to be run: a run that was killed goes on if it is the same."""
        return _digest(sorted((one.target, one.arm, one.key) for one in self.all_units))


class Trees:
    """The trees that targets are imported from, each opened once, and what lies in them."""

    def __init__(self, fleet: Fleet, stack: ExitStack) -> None:
        """Trees are open as long as the stack."""
        self._fleet, self._stack = fleet, stack
        self._roots: dict[str, Path] = {}
        self._digests: dict[Path, str] = {}
        self._files: dict[Path, str] = {}

    def of_code(self, revision: str) -> Path:
        """The fleet's own tree, or what it was in a revision."""
        if not revision:
            return self._fleet.root
        if revision not in self._roots:
            try:
                tree = self._stack.enter_context(before_tree(revision, self._fleet.root))
            except TargetError as error:
                raise FleetError(str(error)) from error
            self._roots[revision] = tree.root
        return self._roots[revision]

    def digest(self, root: Path) -> str:
        """Stands for all Python files of a tree."""
        if root not in self._digests:
            config = load_config(root) if root == self._fleet.root else Config(root)
            files = discover([root], config).files
            inside = [(path.relative_to(root).as_posix(), digest_file(path)) for path in files]
            self._digests[root] = _digest(sorted(inside))
        return self._digests[root]

    def file_digest(self, path: Path) -> str:
        """Stands for the content of one file as it was when it was first looked at."""
        if path not in self._files:
            self._files[path] = digest_file(path)
        return self._files[path]


@contextmanager
def planned(fleet: Fleet) -> Iterator[tuple[Plan, Trees]]:
    """The plan; its trees are open for as long as the block runs.

    Raises:
        FleetError: something that the file names is not there.
    """
    with ExitStack() as stack:
        trees = Trees(fleet, stack)
        pythons = {arm.python: _python(arm.python, fleet.root) for arm in fleet.arms}
        found = {
            name: ask_environment(python, fleet.measures.device) for name, python in pythons.items()
        }
        arms = tuple(ArmFacts(arm, found[arm.python]) for arm in fleet.arms)
        targets = find_targets(fleet, pythons[fleet.arms[0].python])
        yield _plan(fleet, arms, targets, trees, pythons), trees


def _plan(
    fleet: Fleet,
    arms: Sequence[ArmFacts],
    targets: Sequence[Target],
    trees: Trees,
    pythons: dict[str, str],
) -> Plan:
    same = {"version": _VERSION, "tclint": _tclint(), "files": _named_files(fleet)}
    units: list[Unit] = []
    hopeless: list[tuple[Unit, Measured]] = []
    for facts in arms:
        arm, python = facts.arm, pythons[facts.arm.python]
        own = {**same, "config": _config(trees.of_code(arm.revision))}
        for target in targets:
            unit = _unit(fleet, facts, target, trees.of_code(arm.revision), python)
            unit = replace(unit, key=_key(unit, facts.environment, own))
            if target.fault:
                hopeless.append((unit, failed("target", target.fault)))
            else:
                units.append(unit)
    return Plan(tuple(arms), tuple(units), tuple(hopeless))


def _named_files(fleet: Fleet) -> list[tuple[str, str]]:
    """The files that results depend on besides Python's, with their digests."""
    return [
        (path.relative_to(fleet.root).as_posix(), digest_file(path))
        for pattern in fleet.files
        for path in sorted(fleet.root.glob(pattern))
        if path.is_file()
    ]


def _unit(fleet: Fleet, facts: ArmFacts, target: Target, root: Path, python: str) -> Unit:
    return Unit(
        key="",
        target=target.name,
        arm=facts.arm.name,
        text=target.text,
        root=str(root),
        measures=fleet.measures,
        python=python,
        phase=target.source.phase,
        inputs=target.source.inputs,
        fixed=facts.arm.fixed,
        unsafe_fixes=facts.arm.unsafe_fixes,
    )


def _key(unit: Unit, environment: Environment, shared: dict[str, Any]) -> str:
    """What the result depends on besides code, which is known once it was loaded; no limits."""
    measures = {k: v for k, v in asdict(unit.measures).items() if not k.endswith("_limit")}
    return _digest(
        {
            **shared,
            "target": unit.text,
            "phase": unit.phase,
            "inputs": unit.inputs,
            "measures": measures,
            "fixes": (unit.fixed, unit.unsafe_fixes),
            "python": environment.python,
            "torch": environment.torch,
            "packages": environment.packages,
            "gpus": sorted(set(environment.gpus)),
        }
    )


def holds(unit: Unit, code: Iterable[CodeFile], trees: Trees) -> bool:
    """Whether the code that a result is of is the code of today."""
    root = Path(unit.root)
    for file in code:
        now = trees.file_digest(root / file.path) if file.path else trees.digest(root)
        if now != file.digest:
            return False
    return True


def with_code(unit: Unit, measured: Measured, trees: Trees) -> Measured:
    """Of a result of which nobody knows what it loaded: it is of all code in its tree."""
    if measured.code:
        return measured
    return replace(measured, code=(CodeFile("", trees.digest(Path(unit.root))),))


def _python(python: str, root: Path) -> str:
    """An interpreter's path as it can be run from anywhere; one without a slash is searched."""
    if not python or ("/" not in python and "\\" not in python):
        return python
    return str(root / expanded(python))


def _tclint() -> str:
    """Stands for this program and its rules."""
    files = [Path(name) for name in code_files()]
    return _digest([digest_file(path) for path in files if path.is_file()])


def _config(root: Path) -> str:
    config = load_config(root)
    return _digest(effective(config))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
