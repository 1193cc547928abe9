"""``tclint rule``."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.options import rule_codes


class RuleFormat(str, Enum):
    """How a rule's page is printed."""

    TEXT = "text"
    JSON = "json"


def rule(
    code: Annotated[
        str | None,
        typer.Argument(
            help="A rule's code or name.", show_default=False, autocompletion=rule_codes
        ),
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Explain all rules.")] = False,
    folders: Annotated[
        list[Path] | None,
        typer.Option("--rules", metavar="FOLDER", help="Also explain the rules of this folder."),
    ] = None,
    output_format: Annotated[
        RuleFormat, typer.Option(help="Format of the output.")
    ] = RuleFormat.TEXT,
) -> None:
    """Explain a rule: what it reports, why, what the fix does. Without a code, list all rules."""
    from tclint.cli.explaining import explain_rules, list_rules, pick
    from tclint.cli.terminal import colour_on, fail, write
    from tclint.lint.registry import known_rules

    if folders:
        from tclint.lint.local_rules import load_rules_of

        load_rules_of(folders)
    rules = known_rules()
    as_json = output_format is RuleFormat.JSON
    if code is not None and every:
        fail("name a rule or pass --all, not both")
    if code is not None:
        rules = (pick(rules, code),)
    elif not every and not as_json:
        write(list_rules(rules))
        return
    text = explain_rules(rules, as_json=as_json, single=code is not None)
    styled = colour_on(sys.stdout) and not as_json
    if styled:
        from tclint.cli.formatted import formatted

        text = formatted(text)
    write(text, styled=styled)
