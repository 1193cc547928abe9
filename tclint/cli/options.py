"""Options that several commands share."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

FINDINGS = "Which findings"
COMPILED = "Which code is compiled, for which torch"
CONFIGURATION = "Configuration and files"
REPORT = "What is printed"
FIXES = "Which fixes"
RUN = "The run itself"
"""Under these words the help of a command lists its options."""


def rule_codes(incomplete: str) -> list[tuple[str, str]]:
    """For a shell's completion: codes and names of rules, the last of a list with commas."""
    from tclint.lint.registry import known_rules

    before, comma, word = incomplete.rpartition(",")
    named = [(text, rule.summary) for rule in known_rules() for text in (rule.code, rule.name)]
    return [
        (f"{before}{comma}{text}", summary)
        for text, summary in named
        if text.casefold().startswith(word.casefold())
    ]


class Grouped(TyperCommand):
    """A command whose help lists options under headings, in the order of their first ones."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options; what has no heading of its own comes first."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            told = parameter.get_help_record(ctx)
            if told is not None:
                usual = "Options" if parameter.param_type_name == "option" else "Arguments"
                heading = getattr(parameter, "rich_help_panel", None) or usual
                sections.setdefault(heading, []).append(told)
        for heading, rows in sections.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


Rules = Annotated[
    list[Path] | None,
    typer.Option(
        "--rules",
        metavar="FOLDER",
        help="Also use the rules in the files of this folder; repeatable. tclint runs their"
        " code, so a configuration cannot name them.",
        rich_help_panel=CONFIGURATION,
    ),
]


class Remedies(str, Enum):
    """What to do about findings that no fix removes."""

    SETTINGS = "settings"


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files and folders to check, by default the current folder; `-` reads standard input."
        " For a file, tclint also reads what it imports from the project and what calls it.",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Comma-separated rule codes, prefixes or names to enable.",
        autocompletion=rule_codes,
        rich_help_panel=FINDINGS,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Codes, prefixes or names to disable.",
        autocompletion=rule_codes,
        rich_help_panel=FINDINGS,
    ),
]
ConfigOption = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="FILE|KEY=VALUE",
        help="A configuration file, or one key with a TOML value; repeatable.",
        rich_help_panel=CONFIGURATION,
    ),
]
Isolated = Annotated[
    bool,
    typer.Option("--isolated", help="Read no configuration file.", rich_help_panel=CONFIGURATION),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Files to exclude, in place of the configured ones.",
        rich_help_panel=CONFIGURATION,
    ),
]
ForceExclude = Annotated[
    bool,
    typer.Option(
        "--force-exclude",
        help="Apply excludes even to files named on the command line.",
        rich_help_panel=CONFIGURATION,
    ),
]
Scope = Annotated[
    str | None,
    typer.Option(
        "--scope",  # named, since typer 0.27 takes a metavar of the same letters for the name
        metavar="SCOPE",
        help="Which code counts as compiled: `compiled` (what a torch.compile reaches), `modules`"
        " (also every forward), `all` (every function).",
        rich_help_panel=COMPILED,
    ),
]
TargetTorch = Annotated[
    str | None,
    typer.Option(
        metavar="VERSION",
        help="Torch version that the code runs on, e.g. 2.11.",
        rich_help_panel=COMPILED,
    ),
]
MinTorch = Annotated[
    str | None,
    typer.Option(
        "--min-torch",
        metavar="VERSION",
        help="Oldest torch version that fixes must work on.",
        rich_help_panel=COMPILED,
    ),
]
Weak = Annotated[
    bool,
    typer.Option(
        "--weak",
        help="Also report weak findings: they depend on how the code is used, or save under 1% of"
        " a step in most programs.",
        rich_help_panel=FINDINGS,
    ),
]
LeaveOut = Annotated[
    list[str] | None,
    typer.Option(
        "--leave-out",
        metavar="PLACES",
        help="Comma-separated kinds of code whose findings to leave out: `tests`, `benchmarks`,"
        " `archives`, `export`, `visualization`, `data`, `ALL`, or patterns of files.",
        rich_help_panel=FINDINGS,
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline",
        metavar="FILE",
        help="Report only findings that are not in this file.",
        rich_help_panel=FINDINGS,
    ),
]
UpdateBaseline = Annotated[
    bool,
    typer.Option(
        "--update-baseline",
        help="Write the current findings to the baseline.",
        rich_help_panel=FINDINGS,
    ),
]
DiffOnly = Annotated[
    str | None,
    typer.Option(
        "--diff-only",
        metavar="REV",
        help="Report only findings on lines changed since this revision (`HEAD`: uncommitted).",
        rich_help_panel=FINDINGS,
    ),
]
AddIgnore = Annotated[
    str | None,
    typer.Option(
        "--add-ignore",
        metavar="[=REASON]",
        help="Silence each finding with a `# tclint: ignore[CODE]` comment; REASON is added to it.",
        rich_help_panel=FINDINGS,
    ),
]
IgnoreNoqa = Annotated[
    bool,
    typer.Option(
        "--ignore-noqa",
        help="Also report findings that comments silence.",
        rich_help_panel=FINDINGS,
    ),
]
ShowFiles = Annotated[
    bool,
    typer.Option(
        "--show-files", help="Print the files that would be checked.", rich_help_panel=REPORT
    ),
]
ShowRegions = Annotated[
    bool,
    typer.Option(
        "--show-regions",
        help="Instead of findings, list what is compiled: where, what it reaches, and which loops"
        " call it. JSON with `--output-format json`.",
        rich_help_panel=REPORT,
    ),
]
ShowSettings = Annotated[
    bool,
    typer.Option("--show-settings", help="Print the settings in effect.", rich_help_panel=REPORT),
]
Watch = Annotated[
    bool,
    typer.Option("--watch", "-w", help="Check again whenever a file changes.", rich_help_panel=RUN),
]
StdinFilename = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Name of the file on standard input, for reports and configuration.",
        rich_help_panel=CONFIGURATION,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print findings only, no summary.", rich_help_panel=REPORT),
]
ExitZero = Annotated[
    bool,
    typer.Option(
        "--exit-zero", help="Exit with 0 even if there are findings.", rich_help_panel=REPORT
    ),
]
UnsafeFixes = Annotated[
    bool,
    typer.Option(
        "--unsafe-fixes",
        help="Also apply unsafe fixes: each says what may differ.",
        rich_help_panel=FIXES,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=0,
        help="Maximum number of worker processes; 0 means one per CPU.",
        rich_help_panel=RUN,
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        envvar="TCLINT_NO_CACHE",
        help="Neither read nor write the cache.",
        rich_help_panel=RUN,
    ),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        "--cache-dir",
        envvar="TCLINT_CACHE_DIR",
        metavar="FOLDER",
        help="Cache folder; by default `.tclint_cache` beside the configuration file.",
        rich_help_panel=RUN,
    ),
]
