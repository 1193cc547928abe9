"""What ``tclint run`` does between its options and its exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tclint.cli.exits import CLEAN, FINDINGS
from tclint.cli.terminal import complain, fail, note, write
from tclint.config import ConfigError, load_config, running_on
from tclint.crashes import in_one_line
from tclint.errors import UserError
from tclint.printable import printable
from tclint.records import record
from tclint.scratch import scratch
from tclint.source.errors import SourceError, reason

if TYPE_CHECKING:
    from tclint.config import Config
    from tclint.run.ablate import Ablation
    from tclint.run.launch import Ended, Settings
    from tclint.run.outlook import Tried
    from tclint.run.proof import Proof, Wanted
    from tclint.run.session import Answer

_T = TypeVar("_T")


@record(frozen=True)
class Plan:
    """What to run, and what to do with the answer.

    ``wanted`` is what may be tried; ``keep`` is a folder for the recording; ``ablate`` is how many
    lines to measure. ``try_compile`` runs it with its models compiled; None: with a proof, where
    nothing is compiled.
    """

    command: tuple[str, ...]
    settings: Settings
    wanted: Wanted
    keep: Path | None = None
    ablate: int = 0
    prove: bool = False
    apply: bool = False
    try_compile: bool | None = None


def carry_out(plan: Plan, output_format: str, output_file: Path | None) -> int:
    """Run, report, prove; the command's own exit status, whatever becomes of the report."""
    from tclint.cli.report_file import require_report
    from tclint.run.launch import launch

    if output_file is not None:
        require_report("--output-file", output_file)
    ended = None
    try:
        with scratch("run") as desk:
            config, folder = load_config(Path.cwd()), _folder(plan, desk)
            ended = launch(plan.command, folder, plan.settings)
            with _no_fault_of_ours("report", plan.keep):
                answer = _answer(plan, ended, folder, config)
                _tell(plan, answer, desk, output_format, output_file)
    except (UserError, ConfigError, OSError) as error:
        if ended is None:
            fail(str(error))
        complain(f"no report: {error}")
    return ended.status


@contextmanager
def _no_fault_of_ours(missing: str, keep: Path | None = None) -> Iterator[None]:
    """Show an error in tclint itself, whatever it is: it must not change how the command ended."""
    try:
        yield
    except (UserError, ConfigError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - the command's status is what counts
        complain(f"no {missing}: {in_one_line(error)}")
        if keep is not None:
            note(f"the recording is in {keep}")


def compared(before: Path, after: Path, output_format: str, output_file: Path | None) -> int:
    """Tell how two reports differ; 1 when the second is worse."""
    from tclint.cli.report_file import require_report, write_report
    from tclint.run.compare import as_json, as_markdown, compare, text

    if output_file is not None:
        require_report("--output-file", output_file, (before, after))
    found = compare(before, after)
    render = {"text": text, "json": as_json, "markdown": as_markdown}[output_format]
    told = printable(render(found, Path.cwd()))
    if output_file is not None:
        write_report(output_file, told)
    else:
        write(told)
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


def _folder(plan: Plan, desk: Path) -> Path:
    """An empty folder for the recording."""
    folder = desk / "first" if plan.keep is None else plan.keep
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = any(folder.iterdir())
    except OSError as error:
        raise UserError(f"{folder}: no folder for the recording: {reason(error)}") from error
    if held:
        raise UserError(f"{folder}: --keep needs a folder that is empty, or not there yet")
    return folder


def _answer(plan: Plan, ended: Ended, folder: Path, config: Config) -> Answer:
    from tclint.run.rates import measure_rates
    from tclint.run.read import read_folder, training
    from tclint.run.session import answer

    reading = read_folder(folder)
    on_gpu = next((one.process for one in training(reading) if one.process.device), None)
    if on_gpu is not None and (why := measure_rates(on_gpu, folder)):
        note(f"no ceiling: the GPU could not be measured: {why}")
    ran = next((one.process.torch for one in reading.processes if one.process.torch), None)
    return answer(plan.command, ended, reading, folder, running_on(config, ran))


def _config_of(answer: Answer) -> Config:
    """The configuration here, for the torch that ran if nothing says another."""
    ran = None if answer.first is None else answer.first.recorded.process.torch
    return running_on(load_config(Path.cwd()), ran)


def _tell(
    plan: Plan, answer: Answer, desk: Path, output_format: str, output_file: Path | None
) -> None:
    """Report on what was recorded, and on what is tried because of it."""
    from tclint.cli.report_file import could_write

    tries = _tries(plan, answer)
    # More runs take long: whoever ends them has the report without what they would have told.
    if output_file is not None and (tries or plan.ablate or plan.prove):
        output_file = (
            output_file if could_write(output_file, render(answer, output_format)) else None
        )
    if tries:
        tried = _tried("trial of compiling", plan, answer, desk, _compiled)
        answer = answer if tried is None else replace(answer, tried=tried)
    ablation = _tried("measurement", plan, answer, desk, _measured) if plan.ablate else None
    proof = _tried("proof", plan, answer, desk, _proved) if plan.prove else None
    text = render(answer, output_format, proof, ablation)
    # A run that took hours still tells of itself where there is no place for its file.
    if output_file is None or not could_write(output_file, text):
        write(render(answer, "text", proof, ablation))
    if plan.keep is not None:
        note(f"the recording is in {plan.keep}; `tclint trace {plan.keep}` reads it again")
    if plan.apply and proof is not None:
        apply(proof)


def _tried(
    what: str, plan: Plan, answer: Answer, desk: Path, act: Callable[[Plan, Answer, Path], _T]
) -> _T | None:
    """What more runs of the command tell; None with the reason where there is nothing to tell."""
    try:
        with _no_fault_of_ours(what):
            return act(plan, answer, desk)
    except (UserError, ConfigError, OSError) as error:
        note(str(error))
    return None


def _tries(plan: Plan, answer: Answer) -> bool:
    """Whether compiling is tried: where somebody asks for it, or proves and compiles nothing."""
    if plan.try_compile is not None:
        return plan.try_compile
    first = answer.first
    return plan.prove and first is not None and not first.recorded.compiled


def _compiled(plan: Plan, answer: Answer, desk: Path) -> Tried:
    from tclint.run.outlook import write_tried
    from tclint.run.try_compile import try_compile

    note("runs the command again, alternately with its models compiled and as it is")
    found = try_compile(answer, plan.settings, desk)
    if plan.keep is not None:
        write_tried(plan.keep, found)
    return found


def _measured(plan: Plan, answer: Answer, desk: Path) -> Ablation:
    from tclint.run.ablate import ablate, remedies_for

    found = remedies_for(answer, plan.ablate, _config_of(answer), plan.wanted)
    note("runs the command again, alternately with one fix each and without")
    return ablate(answer, found, plan.settings, desk)


def _proved(plan: Plan, answer: Answer, desk: Path) -> Proof:
    from tclint.run.proof import fixes_for, prove

    fixed = fixes_for(answer, _config_of(answer), plan.wanted)
    note("runs the command again, alternately with the fixes and without")
    return prove(plan.command, fixed, plan.settings, desk)


def apply(proof: Proof) -> None:
    """Write the fixes that were proved; say why not otherwise."""
    from tclint.source.write import NewText, write_all

    if not proof.keeps:
        note(f"nothing is written: {proof.losses}")
        return
    if proof.speedup.high < 1:
        note("nothing is written: a step is slower with the fixes")
        return
    files = proof.fixed.changed
    try:
        write_all([NewText(f.path, f.after, f.encoding, f.before) for f in files])
    except SourceError as error:
        complain(str(error))
        return
    note(f"wrote {', '.join(str(file.path) for file in files)}")
