"""What ``tclint run`` does between its options and its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tclint.cli.exits import CLEAN, FINDINGS
from tclint.cli.terminal import fail, note, write
from tclint.config import ConfigError, load_config
from tclint.errors import UserError
from tclint.printable import printable
from tclint.records import record
from tclint.scratch import scratch
from tclint.source.errors import SourceError

if TYPE_CHECKING:
    from tclint.run.ablate import Ablation
    from tclint.run.launch import Settings
    from tclint.run.proof import Proof, Wanted
    from tclint.run.session import Answer


@record(frozen=True)
class Plan:
    """What to run, and what to do with the answer.

    ``wanted`` is what may be tried; ``keep`` is a folder for the recording; ``ablate`` is how many
    lines to measure.
    """

    command: tuple[str, ...]
    settings: Settings
    wanted: Wanted
    keep: Path | None = None
    ablate: int = 0
    prove: bool = False
    apply: bool = False


def carry_out(plan: Plan, output_format: str, output_file: Path | None) -> int:
    """Run, report, prove; the command's own exit status."""
    from tclint.cli.report_file import require_report, write_report

    if output_file is not None:
        require_report("--output-file", output_file)
    try:
        with scratch("run") as desk:
            answer = _recorded(plan, desk)
            ablation = _measured(plan, answer, desk) if plan.ablate else None
            proof = _proved(plan, answer, desk) if plan.prove else None
        text = render(answer, output_format, proof, ablation)
    except (UserError, ConfigError, OSError) as error:
        fail(str(error))
    if output_file is not None:
        write_report(output_file, text)
    else:
        write(text)
    if plan.keep is not None:
        note(f"the recording is in {plan.keep}; `tclint trace {plan.keep}` reads it again")
    if plan.apply and proof is not None:
        _apply(proof)
    return answer.ended.status if answer.ended is not None else 0


def compared(before: Path, after: Path) -> int:
    """Print how two reports differ; 1 when the second is worse."""
    from tclint.run.compare import compare, text

    found = compare(before, after)
    write(printable(text(found, Path.cwd()), styled=True))
    return FINDINGS if found.worse else CLEAN


def render(
    answer: Answer,
    output_format: str,
    proof: Proof | None = None,
    ablation: Ablation | None = None,
) -> str:
    """The answer in one of the formats."""
    from tclint.run.report.rendered import rendered

    text = rendered(answer, output_format, proof, ablation)
    return printable(text, styled=output_format == "text")


def _recorded(plan: Plan, desk: Path) -> Answer:
    from tclint.run.launch import launch
    from tclint.run.read import read_folder
    from tclint.run.session import answer

    config = load_config(Path.cwd())
    folder = desk / "first" if plan.keep is None else plan.keep
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UserError(f"{folder}: --keep needs a folder that is empty, or not there yet")
    ended = launch(plan.command, folder, plan.settings)
    return answer(plan.command, ended, read_folder(folder), folder, config)


def _measured(plan: Plan, answer: Answer, desk: Path) -> Ablation | None:
    from tclint.run.ablate import ablate, remedies_for

    try:
        found = remedies_for(answer, plan.ablate, load_config(Path.cwd()), plan.wanted)
        note("runs the command again, in turns with one fix each and without")
        return ablate(answer, found, plan.settings, desk)
    except UserError as error:
        note(str(error))
        return None


def _proved(plan: Plan, answer: Answer, desk: Path) -> Proof | None:
    from tclint.run.proof import fixes_for, prove

    try:
        fixed = fixes_for(answer, load_config(Path.cwd()), plan.wanted)
        note("runs the command again, in turns with the fixes and without")
        return prove(plan.command, fixed, plan.settings, desk)
    except UserError as error:
        note(str(error))
        return None


def _apply(proof: Proof) -> None:
    """Write the fixes that were proved; say why not otherwise."""
    from tclint.source.write import NewText, write_all

    if proof.same is not True:
        note(f"nothing is written: {proof.losses}")
        return
    if proof.speedup.high < 1:
        note("nothing is written: a step is slower with the fixes")
        return
    files = proof.fixed.changed
    try:
        write_all([NewText(f.path, f.after, f.encoding, f.before) for f in files])
    except SourceError as error:
        fail(str(error))
    note(f"wrote {', '.join(str(file.path) for file in files)}")
