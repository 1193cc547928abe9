"""The programs of fixtures/programs on a GPU, and on several: what `tclint verify` says of each.

Run, on a machine with a GPU: python -m benchmarks.verify.gpu OUT [--only NAME] [--ranks 2]
It leaves OUT/verify.json, renewed after each program.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tclint.config import Config
from tclint.verify.arms import Options
from tclint.verify.fixer import fixer
from tclint.verify.report import as_json
from tclint.verify.results import TargetReport
from tclint.verify.session import Comparison, Job, verify_job

PROGRAMS = Path(__file__).resolve().parents[2] / "fixtures" / "programs"
_GRAPHS = ("default", "reduce-overhead")
_SLOW = ("max-autotune",)


@dataclass(frozen=True)
class Case:
    """A program and how to verify it; ``fixed`` compares it with what `tclint fix` makes of it.

    ``hints`` are fixed as well. ``rounds`` are timed at least, however long they take. ``placed``:
    it puts itself on the GPU, and its inputs stay where they are.
    """

    name: str
    target: str
    modes: tuple[str, ...] = ("default",)
    phase: str = "forward"
    fixed: bool = False
    hints: bool = False
    rounds: int = 5
    placed: bool = False


ALONE = (
    Case("conv net", "conv_net.py:make", _GRAPHS, fixed=True),
    Case("loss", "weighted_loss.py:make", _GRAPHS, fixed=True),
    Case("regional", "deep_stack.py:make", ("default", "regional")),
    Case("optimizer", "optimizer_step.py:make", fixed=True),
    Case("distillation", "distillation.py:make", _GRAPHS, "backward", fixed=True),
    Case("configuration", "train_config.py:make", fixed=True),
    Case("collective", "all_reduce.py:make"),
    Case(
        "script of habits",
        "train_script.py:make",
        phase="step",
        fixed=True,
        hints=True,
        rounds=15,
        placed=True,
    ),
    Case("vision transformer, float32", "vision_transformer.py:make", _GRAPHS, "step"),
    Case("vision transformer, autocast", "vision_transformer.py:make_autocast", _GRAPHS, "step"),
    Case("vision transformer, float32, tuned", "vision_transformer.py:make", _SLOW, "step"),
    Case(
        "vision transformer, autocast, tuned", "vision_transformer.py:make_autocast", _SLOW, "step"
    ),
)
SPREAD = (
    Case("vision transformer, float32", "vision_transformer.py:make", phase="step"),
    Case("vision transformer, autocast", "vision_transformer.py:make_autocast", phase="step"),
    Case("conv net", "conv_net.py:make", phase="backward"),
    Case("collective", "all_reduce.py:make", phase="backward"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the programs one by one."""
    options = _options(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    os.chdir(PROGRAMS)
    reports: list[TargetReport] = []
    for job, comparison in _jobs(options):
        start = time.monotonic()
        reports.append(verify_job(job, PROGRAMS, comparison, Config(PROGRAMS)))
        print(f"{job.name}: {time.monotonic() - start:.0f} s", flush=True)
        (options.out / "verify.json").write_text(as_json.render(reports, PROGRAMS), "utf-8")
    return 0


def _jobs(options: argparse.Namespace) -> Iterator[tuple[Job, Comparison]]:
    spread = options.ranks > 1
    for case in SPREAD if spread else ALONE:
        if options.only and not any(name in case.name for name in options.only):
            continue
        how = Options(
            modes=case.modes,
            phase=case.phase,
            device=None if case.placed else options.device,
            fewest_rounds=case.rounds,
            time_limit=options.time_limit,
            deadline=time.monotonic() + options.seconds if options.seconds else None,
            repro=options.repro,
        )
        config = Config(PROGRAMS, weak=case.hints)
        fix = fixer(config, unsafe=True) if case.fixed and not spread else None
        for parallel in options.parallel if spread else ("none",):
            name = f"{case.name} ({options.ranks} x {parallel})" if spread else case.name
            comparison = Comparison(fix=fix, processes=options.ranks, parallel=parallel)
            yield Job(name, case.target, how), comparison


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=lambda text: Path(text).resolve(), help="folder for reports")
    parser.add_argument("--only", action="append", help="part of a program's name")
    parser.add_argument("--ranks", type=int, default=1, help="GPUs to spread over")
    parser.add_argument("--parallel", nargs="+", default=["ddp"], help="ddp, fsdp")
    parser.add_argument("--time-limit", type=float, default=400.0, help="seconds for each process")
    parser.add_argument("--seconds", type=float, help="for each program; what is known is told")
    parser.add_argument("--device", default="cuda", help="cpu, to try this")
    parser.add_argument("--repro", type=Path, help="folder for scripts that show failures")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
