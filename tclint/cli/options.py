"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files and folders, the current one if none is named; `-` reads standard input.",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES", help="Only these rules: codes or their beginnings, with commas between."
    ),
]
ExtendSelect = Annotated[
    list[str] | None, typer.Option(metavar="CODES", help="These rules as well.")
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="CODES", help="Not these rules.")]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="FILE|KEY=VALUE",
        help="A configuration file, or one key with a TOML value; repeatable.",
    ),
]
Isolated = Annotated[bool, typer.Option("--isolated", help="Read no configuration file.")]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Leave these out, instead of what is configured."),
]
ForceExclude = Annotated[
    bool, typer.Option("--force-exclude", help="Leave excluded files out even when named here.")
]
Scope = Annotated[
    str | None,
    typer.Option(
        "--scope",  # named, since typer 0.27 takes a metavar of the same letters for the name
        metavar="SCOPE",
        help="Which code counts as compiled: `compiled` (what a torch.compile reaches), `modules`"
        " (also every forward), `all` (every function).",
    ),
]
TargetTorch = Annotated[
    str | None,
    typer.Option(metavar="VERSION", help="The torch that the code will run on, e.g. 2.11."),
]
ShowDeclined = Annotated[
    bool, typer.Option("--show-declined", help="Say why a finding has no fix.")
]
StdinFilename = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What to call standard input in reports."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print findings only, no summary.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 despite findings.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print what fixes would change; write nothing.")]
UnsafeFixes = Annotated[
    bool,
    typer.Option("--unsafe-fixes", help="Also apply fixes that may change what the code does."),
]
