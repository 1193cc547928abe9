"""Run the arms of a comparison in child processes, and draw the conclusions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tclint.verify.arms import Options, Side, Tell, new_cache, request_for, silent
from tclint.verify.changes import changes
from tclint.verify.diagnosis import diagnose, wanted
from tclint.verify.events import Equality
from tclint.verify.process import Child, ChildError
from tclint.verify.race import NO_TIME, compile_arms, time_arms
from tclint.verify.results import AppliedFix, Arm, Joined, Probe, TargetReport, Untimed
from tclint.verify.targets import parse_target
from tclint.verify.verdict import judge_eager, judge_modes

_BLAME = "which layer is at fault"

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
        sides, arms, applied = _probe_all(planned, options, desk, tell)
        equality = _equality(arms)
        if applied == ():
            idle = Untimed("", "no fix applies: the run stopped before anything was timed")
            arms = tuple(replace(arm, untimed=(idle,)) for arm in arms)
        elif arms[-1].failure is None:
            arms = _compile_for_real(sides, arms, options, desk, tell)
        wrong = wanted(arms[-1])
        diagnosis = None
        if wrong and not options.out_of_time:
            tell(_BLAME)
            diagnosis = diagnose(sides[-1], arms[-1], options, desk)
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
        applied=applied,
        eager=judge_eager(arms, options.modes),
        diff=changes(sides, arms),
        unfinished=(*_left_out(arms[-1]), *((_BLAME,) if wrong and diagnosis is None else ())),
    )


def _left_out(arm: Arm) -> tuple[str, ...]:
    return tuple(f"compiled code, {one.mode}" for one in arm.untimed if one.reason == NO_TIME)


def _probe_all(
    planned: Sequence[Side], options: Options, desk: Path, tell: Tell
) -> tuple[tuple[Side, ...], tuple[Arm, ...], tuple[AppliedFix, ...] | None]:
    """Probe each side; one that fixes would not change is left out, and no fixes are returned."""
    sides: list[Side] = []
    arms: list[Arm] = []
    applied: tuple[AppliedFix, ...] | None = None
    for plan in planned:
        side = plan
        if plan.fix is not None:
            tell("fixes")
            first = arms[0].probe
            fixing = plan.fix(_paths(first.loaded) if first else _target_file(plan))
            applied = fixing.applied if fixing.texts else ()
            if not applied:
                break
            side = replace(plan, overlay=fixing.texts)
        tell(f"{f'{side.name}: ' if len(planned) > 1 else ''}breaks and results")
        # What did not run left nothing to follow, but this arm may yet run by itself.
        follow = bool(arms) and arms[0].failure is None
        sides.append(side)
        arms.append(probe_side(side, options, desk, follow=follow))
    return tuple(sides), tuple(arms), applied


def _compile_for_real(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path, tell: Tell
) -> tuple[Arm, ...]:
    if options.speed:
        # A side that does not run leaves the other one, which has times of its own.
        ran = [number for number, arm in enumerate(arms) if arm.failure is None]
        timed = time_arms([sides[n] for n in ran], tuple(arms[n] for n in ran), options, desk, tell)
        return (*arms[: -len(timed)], *timed)
    arms = tuple(replace(arm, untimed=(Untimed("", "not asked for"),)) for arm in arms)
    # Graphs that run as they are were compared while breaks were counted.
    if options.backend == "eager":
        return arms
    return (*arms[:-1], *compile_arms(sides[-1:], arms[-1:], options, desk, tell))


def _paths(names: Sequence[str]) -> list[Path]:
    return [Path(name) for name in names]


def _target_file(side: Side) -> list[Path]:
    target = parse_target(side.target)
    place = target.place if target.is_file else f"{target.place.replace('.', '/')}.py"
    found = (base / place for base in (side.root, side.root / "src"))
    return [path for path in found if path.is_file()][:1]


def probe_side(side: Side, options: Options, desk: Path, *, follow: bool) -> Arm:
    """Run one side; with ``follow``, with the weights and inputs that an earlier one left."""
    with options.start(new_cache(desk, side, "probe")) as child:
        return probe_in(child, side, options, desk, follow=follow)


def probe_in(child: Child, side: Side, options: Options, desk: Path, *, follow: bool) -> Arm:
    """Run one side in a child that may be asked for more; a failure leaves what was known."""
    try:
        request = request_for(side, options, desk)
        seen = child.ask("probe", Probe, meanwhile=Probe, **request, follow=follow)
    except ChildError as failed:
        return Arm(side.name, failed.so_far, failure=failed.failure)
    return Arm(side.name, seen)


def _equality(arms: tuple[Arm, ...]) -> Equality:
    """What to say of the target: the first comparison that found a difference, else the last."""
    last = arms[-1].probe
    for arm in arms:
        if arm.failure is not None:
            where = f" ({arm.name})" if len(arms) > 1 else ""
            far = " to its end" if arm.probe is not None else ""
            return Equality("unknown", f"the target did not run{far}{where}")
    assert last is not None
    verdicts = [v for v in (last.like_before, last.like_eager) if v is not None]
    telling = {"different", "unknown", "not-deterministic"}
    return next((v for v in verdicts if v.verdict in telling), verdicts[0])
