"""``tclint run``: record a command, and say which of its lines cost what."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from tclint.cli.options import Grouped, Remedies


class Format(str, Enum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


class Parsing(Grouped):
    """All that follows the first word of the command is the command's."""

    allow_interspersed_args = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; of those behind the command nobody could say whose they are."""
        given = [*args]
        rest = super().parse_args(ctx, args)
        command: list[str] = ctx.params["command"] or []
        option = next((word for word in command if word.startswith("-") and word != "--"), None)
        if option is not None and given[-len(command) - 1 : -len(command)] != ["--"]:
            raise typer.BadParameter(
                f"{option} may be an option of tclint or of the command. Write the command after "
                f"`--`: tclint run -- {shlex.join(command)}"
            )
        return rest


def run(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND...",
            help="The command, as in a shell: `python train.py`, `python -m pkg`, `torchrun ...`, "
            "`accelerate launch ...`, `pytest ...`, or a console script.",
            show_default=False,
        ),
    ] = None,
    *,
    steps: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Stop the command after this many steps; 0: let it finish."
        ),
    ] = 0,
    warm_up: Annotated[
        int, typer.Option(metavar="N", min=0, help="Steps at the start that are not counted.")
    ] = 10,
    step_marker: Annotated[
        str,
        typer.Option(
            metavar="PLACE",
            help="What ends a step: FILE:LINE or package.module:function. "
            "Default: optimizer.step(), or backward() if there is none.",
        ),
    ] = "",
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Run the command four more times, alternately with and without the fixes, and "
            "compare losses and step times. Your files stay unchanged.",
        ),
    ] = False,
    try_compile: Annotated[
        bool | None,
        typer.Option(
            "--try-compile/--no-try-compile",
            help="Run some steps more, alternately as they are and with the models that they call "
            "compiled. Default: with --prove, where nothing is compiled.",
            show_default=False,
        ),
    ] = None,
    ablate: Annotated[
        int,
        typer.Option(
            metavar="TOP",
            min=0,
            help="Measure the TOP most expensive lines: alternate steps with the fix of each "
            "line alone and steps with the unchanged files.",
            show_default=False,
        ),
    ] = 0,
    unsafe_fixes: Annotated[
        bool,
        typer.Option("--unsafe-fixes", help="With --prove or --ablate: also try unsafe fixes."),
    ] = False,
    remedies: Annotated[
        Remedies | None,
        typer.Option(
            help="With --prove or --ablate: also try Dynamo settings.",
            show_default=False,
        ),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="With --prove: apply the fixes if losses differ by rounding at most, and no "
            "step is slower.",
        ),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="Seed torch and `random` with this number at the start.")
    ] = None,
    output_format: Annotated[Format, typer.Option(help="Format of the report.")] = Format.TEXT,
    output_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report to a file.")
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="BEFORE AFTER",
            help="Run nothing; compare two JSON reports. The exit status is 1 if there is a new "
            "finding, or a step is slower.",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep the recording in this folder, for `tclint trace DIR`."
        ),
    ] = None,
) -> None:
    """Run a command, record it, and rank its lines by what they cost per step.

    The command's output, results and exit status do not change; tclint exits with its status.
    """
    from tclint.cli.running import Plan, carry_out, compared
    from tclint.run.launch import Settings
    from tclint.run.proof import Wanted

    if compare is not None:
        if output_format is Format.HTML:
            raise typer.BadParameter("--compare has no HTML: text, json or markdown")
        raise typer.Exit(compared(*compare, output_format.value, output_file))
    if not command:
        raise typer.BadParameter("no command: write it after `--`, as in a shell")
    if apply and not prove:
        raise typer.BadParameter("--apply needs --prove")
    if (unsafe_fixes or remedies is not None) and not (prove or ablate):
        raise typer.BadParameter("--unsafe-fixes and --remedies need --prove or --ablate")
    if output_format is not Format.TEXT and output_file is None:
        raise typer.BadParameter(
            "--output-format needs --output-file: the command's own output goes to the terminal"
        )
    settings = Settings(steps=steps, warm_up=warm_up, marker=step_marker, seed=seed)
    wanted = Wanted(unsafe_fixes, settings=remedies is not None)
    plan = Plan(
        tuple(command),
        settings,
        wanted,
        keep,
        ablate=ablate,
        prove=prove,
        apply=apply,
        try_compile=try_compile,
    )
    raise typer.Exit(carry_out(plan, output_format.value, output_file))
