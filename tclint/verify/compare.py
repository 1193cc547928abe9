"""Run the arms of a comparison in child processes, and draw the conclusions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tclint.verify.arms import Options, Side, Tell, new_cache, request_for, silent
from tclint.verify.diagnosis import diagnose, wanted
from tclint.verify.events import Equality
from tclint.verify.process import Child, ChildError
from tclint.verify.race import time_arms
from tclint.verify.results import Arm, Joined, Probe, TargetReport, Untimed
from tclint.verify.targets import parse_target
from tclint.verify.verdict import judge_modes
from tclint.verify.wire import rebuild

Join = Callable[[Side, Probe], tuple[Joined, ...]]
"""Matches what an arm ran into with what the static side says about its files."""


def verify_sides(
    target: str,
    planned: Sequence[Side],
    options: Options,
    join: Join | None = None,
    tell: Tell = silent,
) -> TargetReport:
    """Probe each side in turn, time them together, and compare."""
    with TemporaryDirectory(prefix="tclint-verify-") as folder:
        desk = Path(folder)
        tell("breaks and results")
        sides, arms = _probe_all(planned, options, desk)
        equality = _equality(arms)
        if not options.speed:
            arms = tuple(replace(arm, untimed=(Untimed("", "not asked for"),)) for arm in arms)
        elif arms[-1].failure is None:
            # A side that does not run leaves the other one, which has times of its own.
            ran = [number for number, arm in enumerate(arms) if arm.failure is None]
            timed = time_arms(
                [sides[n] for n in ran], tuple(arms[n] for n in ran), options, desk, tell
            )
            arms = (*arms[: -len(timed)], *timed)
        wrong = wanted(arms[-1])
        if wrong:
            tell("which layer is at fault")
        diagnosis = diagnose(sides[-1], arms[-1], options, desk) if wrong else None
    joined = [
        entry
        for side, arm in zip(sides, arms, strict=True)
        if join is not None and arm.probe is not None
        for entry in join(side, arm.probe)
    ]
    return TargetReport(
        target=target,
        arms=arms,
        equality=equality,
        speedups=judge_modes(arms, equality, options.modes),
        joined=tuple(joined),
        diagnosis=diagnosis,
        traces=_traces(options),
    )


def _probe_all(
    planned: Sequence[Side], options: Options, desk: Path
) -> tuple[tuple[Side, ...], tuple[Arm, ...]]:
    sides, arms = [planned[0]], [probe_side(planned[0], options, desk, follow=False)]
    for plan in planned[1:]:
        first = arms[0].probe
        loaded = [Path(name) for name in first.loaded] if first else _target_file(plan)
        side = plan if plan.fix is None else replace(plan, overlay=plan.fix(loaded))
        sides.append(side)
        # What did not run left nothing to follow, but this arm may yet run by itself.
        arms.append(probe_side(side, options, desk, follow=first is not None))
    return tuple(sides), tuple(arms)


def _target_file(side: Side) -> list[Path]:
    target = parse_target(side.target)
    place = target.place if target.is_file else f"{target.place.replace('.', '/')}.py"
    found = (base / place for base in (side.root, side.root / "src"))
    return [path for path in found if path.is_file()][:1]


def probe_side(side: Side, options: Options, desk: Path, *, follow: bool) -> Arm:
    """Run one side; with ``follow``, with the weights and inputs that an earlier one left."""
    with Child(new_cache(desk, side, "probe"), options.device, options.time_limit) as child:
        try:
            answer = child.ask("probe", **request_for(side, options, desk), follow=follow)
        except ChildError as failed:
            return Arm(side.name, None, failure=failed.failure)
    return Arm(side.name, rebuild(Probe, answer))


def _equality(arms: tuple[Arm, ...]) -> Equality:
    """What to say of the target: the first comparison that found a difference, else the last."""
    last = arms[-1].probe
    for arm in arms:
        if arm.probe is None:
            where = f" ({arm.name})" if len(arms) > 1 else ""
            return Equality("unknown", f"the target did not run{where}")
    assert last is not None
    verdicts = [v for v in (last.like_before, last.like_eager) if v is not None]
    telling = {"different", "unknown", "not-deterministic"}
    return next((v for v in verdicts if v.verdict in telling), verdicts[0])


def _traces(options: Options) -> tuple[str, ...]:
    if options.trace is None:
        return ()
    return tuple(sorted(str(path) for path in options.trace.resolve().rglob("*") if path.is_file()))
