"""Options that several commands share."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class Remedies(str, Enum):
    """What to do about findings that no fix removes."""

    SETTINGS = "settings"
    HATCHES = "hatches"
    ALL = "all"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files and folders to check, by default the current folder; `-` reads standard input."
        " For a file, what it imports from the project and what calls it is read as well.",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(metavar="CODES", help="Comma-separated rule codes, prefixes or names to enable."),
]
ExtendSelect = Annotated[
    list[str] | None,
    typer.Option(metavar="CODES", help="Codes, prefixes or names to enable in addition."),
]
Ignore = Annotated[
    list[str] | None, typer.Option(metavar="CODES", help="Codes, prefixes or names to disable.")
]
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
    typer.Option(metavar="PATTERN", help="Files to exclude, in place of the configured ones."),
]
ForceExclude = Annotated[
    bool,
    typer.Option("--force-exclude", help="Apply excludes even to files named on the command line."),
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
    typer.Option(metavar="VERSION", help="Torch version that the code runs on, e.g. 2.11."),
]
MinTorch = Annotated[
    str | None,
    typer.Option(
        "--min-torch", metavar="VERSION", help="Oldest torch version that fixes must work on."
    ),
]
MinConfidence = Annotated[
    str | None,
    typer.Option(
        "--min-confidence",
        metavar="LEVEL",
        help="Lowest confidence to report: `low`, `medium` or `high`.",
    ),
]
MinWorth = Annotated[
    str | None,
    typer.Option(
        "--min-worth",
        metavar="LEVEL",
        help="Lowest worth to report: `hint` (next to nothing in most programs), `low`, `medium` or"
        " `high`.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="PRESET",
        help="Whose findings to report: `library` leaves out tests, benchmarks and archives of"
        " runs, `training` export and visualisation code as well, `all` nothing.",
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="Report only findings that are not in this file."
    ),
]
UpdateBaseline = Annotated[
    bool,
    typer.Option("--update-baseline", help="Write the current findings to the baseline."),
]
DiffOnly = Annotated[
    str | None,
    typer.Option(
        "--diff-only",
        metavar="REV",
        help="Report only findings on lines changed since this revision.",
    ),
]
Changed = Annotated[
    bool, typer.Option("--changed", help="Report only findings on uncommitted lines.")
]
AddIgnore = Annotated[
    str | None,
    typer.Option(
        "--add-ignore",
        metavar="[=REASON]",
        help="Add a comment that silences it to each finding, with this reason if one is given.",
    ),
]
IgnoreNoqa = Annotated[
    bool, typer.Option("--ignore-noqa", help="Also report findings that comments silence.")
]
ShowFiles = Annotated[
    bool, typer.Option("--show-files", help="Print the files that would be checked.")
]
ShowRegions = Annotated[
    bool,
    typer.Option(
        "--show-regions",
        help="Print what is compiled instead of findings: where, what it reaches, and which loops"
        " call it; as JSON with `--output-format json`.",
    ),
]
ShowSettings = Annotated[
    bool, typer.Option("--show-settings", help="Print the settings in effect.")
]
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Check again whenever a file changes.")]
ShowDeclined = Annotated[
    bool, typer.Option("--show-declined", help="Show why a finding has no fix.")
]
StdinFilename = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Name of the file on standard input, for reports and configuration."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print findings only, no summary.")]
ExitZero = Annotated[
    bool, typer.Option("--exit-zero", help="Exit with 0 even if there are findings.")
]
Diff = Annotated[
    bool, typer.Option("--diff", help="Print the changes as a diff and write nothing.")
]
UnsafeFixes = Annotated[
    bool,
    typer.Option("--unsafe-fixes", help="Also apply fixes that may change behaviour."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=0,
        help="Maximum number of worker processes; 0 means one per CPU.",
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
        help="Cache folder; by default `.tclint_cache` beside the configuration file.",
    ),
]
