"""Find the layer of the compiler at fault, and leave scripts that show it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from tclint.verify.answers import Captured
from tclint.verify.arms import Options, Side, cache_folder, new_cache, request_for
from tclint.verify.layers import LADDER
from tclint.verify.process import ChildError
from tclint.verify.reproduction import reproduction
from tclint.verify.results import Arm, Diagnosis, Rung


def wanted(arm: Arm) -> bool:
    """Whether the compiled arm failed or came out different, so that someone is at fault."""
    if arm.probe is None:
        return False
    if arm.probe.like_eager.equal is False:
        return True
    if any(one.like_eager.equal is False for one in arm.numbers):
        return True
    return any(one.fault for one in arm.untimed)


def diagnose(side: Side, arm: Arm, options: Options, desk: Path) -> Diagnosis | None:
    """Walk the ladder until a rung breaks; write scripts where a folder is named for them.

    None where time is up before the first rung.
    """
    assert arm.probe is not None
    whole = not arm.probe.itself
    rungs: list[Rung] = []
    for rung in _climb(side, options, desk, whole=whole):
        rungs.append(rung)
        if not rung.fine:
            break
    if not rungs:
        return None
    backend = rungs[-1].backend
    layer = "" if rungs[-1].fine else rungs[-1].layer
    scripts = _scripts(side, options, desk, backend) if options.repro is not None else ()
    return Diagnosis(layer, tuple(rungs), minifier(side, rungs[-1]), scripts)


def minifier(side: Side, rung: Rung) -> str:
    """The command that makes torch shrink the failing graph by itself."""
    after = "aot" if rung.backend == "inductor" else "dynamo"
    level = 4 if rung.outcome.startswith("different") else 2
    name = script_name(side.target)
    return f"TORCHDYNAMO_REPRO_AFTER={after} TORCHDYNAMO_REPRO_LEVEL={level} python {name}"


def script_name(target: str) -> str:
    """A file name for a target's script."""
    return "repro_" + re.sub(r"\W+", "_", target).strip("_") + ".py"


def _climb(side: Side, options: Options, desk: Path, *, whole: bool) -> Iterator[Rung]:
    request = request_for(side, options, desk)
    for backend, layer in LADDER.items():
        if options.out_of_time:
            return
        with options.start(_cache(side, options, desk, backend)) as child:
            try:
                yield child.ask("climb", Rung, **request, backend=backend, whole=whole)
            except ChildError as failed:
                said = f"{failed.failure.kind}: {failed.failure.message}"
                yield Rung(backend, layer, said, fine=False)


def _cache(side: Side, options: Options, desk: Path, backend: str) -> Path:
    """The real backend need not generate anew what it has generated once."""
    known = cache_folder(desk, side, f"timing-{options.modes[0]}")
    if backend == options.backend and options.modes[0] == "default" and known.is_dir():
        return known
    return new_cache(desk, side, f"ladder-{backend}")


def _scripts(side: Side, options: Options, desk: Path, backend: str) -> tuple[str, ...]:
    assert options.repro is not None
    folder = options.repro.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / script_name(side.target)
    script.write_text(reproduction(side, options, backend), encoding="utf-8")
    written = [str(script)]
    with options.start(new_cache(desk, side, "capture")) as child:
        request = request_for(side, options, desk)
        # A target that cannot even be traced has no graphs: the first script shows that.
        with contextlib.suppress(ChildError):
            asked = {**request, "backend": backend, "folder": str(folder)}
            written += child.ask("capture", Captured, **asked).scripts
    return tuple(written)
