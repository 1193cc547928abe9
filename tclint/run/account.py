"""Where the time of the whole loop goes: shares that add up, and what is left unexplained.

What only some steps do, such as an evaluation, a checkpoint or a rollout, is a group of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tclint.records import record
from tclint.run.gpu import Activity
from tclint.run.host import LINE, LOADING, TRANSFER, Key, Part, Work
from tclint.run.outlook import KernelClasses
from tclint.run.own_code import own_file
from tclint.run.recorded import Recorded
from tclint.run.sampled import Loop, Stack, loop_of

GPU = "gpu"
_MODEL = frozenset(part.value for part in Part)
_INNER = 0.95
"""A line that has so much of all time is where the loop is called: its own lines are told of."""
_ONLY_LONG = 0.8
"""What has so much of its time in long steps is done every some steps."""
_FEWEST, _APART = 2, 3
"""It is done twice at least, and every third step at most."""
_ROUNDED = 1e-6
_GroupKey = tuple[str, Key | None]


@record(frozen=True)
class Group:
    """Something that a step does: milliseconds of the mean step.

    ``kind`` is ``forward``, ``backward``, ``optimizer``, ``loading``, ``transfer``, ``line`` or
    ``gpu``; ``place`` is the line of the loop that does it, ``name`` what that calls. ``every`` is
    how many steps lie between two that do it, and ``once`` how long it then takes. ``details`` are
    what it is made of, in milliseconds of the mean step.
    """

    kind: str
    ms: float
    place: Key | None = None
    name: str = ""
    every: float | None = None
    once: float = 0.0
    details: tuple[tuple[str, float], ...] = ()


@record(frozen=True)
class Account:
    """Milliseconds of the mean step, of so many steps, by what they are spent on."""

    mean: float = 0.0
    median: float = 0.0
    steps: int = 0
    groups: tuple[Group, ...] = ()

    @property
    def unexplained(self) -> float:
        """What no group has."""
        left = self.mean - sum(group.ms for group in self.groups)
        return left if left > _ROUNDED * self.mean else 0.0

    def share(self, ms: float) -> float:
        """The share of the loop's time."""
        return ms / self.mean if self.mean else 0.0


def account_of(
    one: Recorded, work: Work, activity: Activity | None, kernels: KernelClasses | None
) -> Account:
    """Where the time of one process goes.

    Where a GPU worked, a step is what the GPU computes, and what the host does while it is idle.
    """
    if one.steps is None:
        return Account()
    loop = loop_of(one.steps)
    groups = [_titled(group, one) for group in _groups(work, loop)]
    if activity is not None:
        groups = _beside_gpu(groups, activity, kernels, loop)
    ordered = tuple(sorted(groups, key=lambda group: -group.ms))
    return Account(loop.mean, loop.usual, loop.count, ordered)


def _groups(work: Work, loop: Loop) -> list[Group]:
    keyed = _keyed(work)
    spent: Counter[_GroupKey] = Counter()
    long: Counter[_GroupKey] = Counter()
    details: dict[_GroupKey, Counter[str]] = defaultdict(Counter)
    for stack, (key, detail) in keyed.items():
        spent[key] += work.seen.stacks[stack]  # type: ignore[assignment]
        long[key] += work.seen.long.get(stack, 0.0)  # type: ignore[assignment]
        if detail:
            details[key][detail] += work.seen.stacks[stack]  # type: ignore[assignment]
    steps: dict[_GroupKey, set[int]] = defaultdict(set)
    for stack, (key, _) in keyed.items():
        steps[key] |= work.seen.steps.get(stack, frozenset())
    return [
        _group(key, ms, long[key], len(steps[key]), loop, details[key]) for key, ms in spent.items()
    ]


def _group(
    key: _GroupKey,
    ms: float,
    long: float,
    times: int,
    loop: Loop,
    details: Mapping[str, float],
) -> Group:
    kind, place = key
    told = tuple(sorted(details.items(), key=lambda one: -one[1]))
    group = Group(kind, ms, place, details=told)
    rare = _FEWEST <= times <= loop.count / _APART
    if kind in _MODEL or not rare or long < _ONLY_LONG * ms:
        return group
    return replace(group, every=loop.count / times, once=ms * loop.count / times)


def _titled(group: Group, one: Recorded) -> Group:
    """With the name of what its line calls."""
    if group.place is None or group.kind != LINE:
        return group
    return replace(group, name=own_file(one, group.place[0]).name(group.place[1]))


def _keyed(work: Work) -> dict[Stack, tuple[_GroupKey, str]]:
    """The group of each stack, and what it does in it."""
    depth = _depth(work)
    at = {stack: line.path[min(depth, len(line.path) - 1)] if line.path else None
          for stack, line in work.lines.items()}  # fmt: skip
    learns = {at[stack] for stack, line in work.lines.items() if line.kind in _MODEL}
    sees = {
        at[stack]
        for stack, line in work.lines.items()
        if line.without_gradients and at[stack] not in learns
    }
    found = {}
    for stack, line in work.lines.items():
        if at[stack] is None and line.kind == LINE:
            continue
        kind = LINE if at[stack] in sees else line.kind
        found[stack] = _key(kind, at[stack]), line.detail or (kind if kind == TRANSFER else "")
    return found


def _key(kind: str, place: Key | None) -> _GroupKey:
    return (LOADING if kind == TRANSFER else kind), place


def _depth(work: Work) -> int:
    """How many of the user's lines do nothing but call the loop."""
    whole = sum(work.seen.stacks.values())
    depth = 0
    while True:
        here: Counter[Key] = Counter()
        deeper = 0.0
        for stack, line in work.lines.items():
            ms = work.seen.stacks[stack]
            if len(line.path) > depth:
                here[line.path[depth]] += ms  # type: ignore[assignment]
            if len(line.path) > depth + 1:
                deeper += ms
        most = max(here.values(), default=0.0)
        if not whole or most < _INNER * whole or deeper < _INNER * whole:
            return depth
        depth += 1


def _beside_gpu(
    groups: Sequence[Group], activity: Activity, kernels: KernelClasses | None, loop: Loop
) -> list[Group]:
    """What the GPU computes, and the host's time scaled to that in which it does nothing."""
    usual = min(loop.usual, loop.mean)
    busy = min(activity.busy / activity.steps, usual)
    rare = [group for group in groups if group.every is not None]
    others = [group for group in groups if group.every is None]
    left = max(0.0, loop.mean - sum(group.ms for group in rare) - busy)
    spent = sum(group.ms for group in others)
    factor = min(1.0, left / spent) if spent else 0.0
    scaled = [_scaled(group, factor) for group in others]
    return [*rare, *scaled, *_on_gpu(busy, kernels)]


def _scaled(group: Group, factor: float) -> Group:
    details = tuple((told, ms * factor) for told, ms in group.details)
    return replace(group, ms=group.ms * factor, details=details)


def _on_gpu(busy: float, kernels: KernelClasses | None) -> Iterable[Group]:
    if kernels is None or not kernels.classes:
        yield Group(GPU, busy, name="the GPU computes")
        return
    whole = sum(one.ms for one in kernels.classes)
    for one in kernels.classes:
        yield Group(GPU, one.ms * busy / whole if whole else 0.0, name=one.name)
