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
MinTorch = Annotated[
    str | None,
    typer.Option(
        "--min-torch", metavar="VERSION", help="The oldest torch that fixes have to work on."
    ),
]
MinConfidence = Annotated[
    str | None,
    typer.Option(
        "--min-confidence",
        metavar="LEVEL",
        help="The least sure findings to show: `low`, `medium` or `high`.",
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option("--baseline", metavar="FILE", help="Leave out the findings that this file knows."),
]
UpdateBaseline = Annotated[
    bool,
    typer.Option("--update-baseline", help="Write the findings of now into the baseline."),
]
DiffOnly = Annotated[
    str | None,
    typer.Option(
        "--diff-only", metavar="REV", help="Only findings on lines changed since this revision."
    ),
]
Changed = Annotated[
    bool, typer.Option("--changed", help="Only findings on lines that are not committed yet.")
]
AddIgnore = Annotated[
    str | None,
    typer.Option(
        "--add-ignore",
        metavar="REASON",
        help="Write a comment that silences it at every finding; the reason may be left out.",
    ),
]
IgnoreNoqa = Annotated[
    bool, typer.Option("--ignore-noqa", help="Report what comments silence, too.")
]
ShowFiles = Annotated[
    bool, typer.Option("--show-files", help="Print the files that would be checked.")
]
ShowSettings = Annotated[
    bool, typer.Option("--show-settings", help="Print the configuration in force.")
]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Check again whenever a file changes.")]
ShowDeclined = Annotated[
    bool, typer.Option("--show-declined", help="Say why a finding has no fix.")
]
StdinFilename = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Read standard input, and call it so in reports."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print findings only, no summary.")]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 despite findings.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print what fixes would change; write nothing.")]
UnsafeFixes = Annotated[
    bool,
    typer.Option("--unsafe-fixes", help="Also apply fixes that may change what the code does."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=0,
        help="Work in up to so many processes, as far as that saves time; 0 means one for each"
        " processor.",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", envvar="TCLINT_NO_CACHE", help="Neither read nor write the cache."),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        envvar="TCLINT_CACHE_DIR",
        metavar="FOLDER",
        help="Where to remember findings; by default `.tclint_cache` beside the configuration, or"
        " here.",
    ),
]
