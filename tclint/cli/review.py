"""``tclint review``: what a pull request brings in, as a review of it."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from tclint.cli.exits import CLEAN, FINDINGS
from tclint.cli.terminal import fail, write


class Format(str, Enum):
    """How the review is printed."""

    TEXT = "text"
    JSON = "json"


def review(
    base: Annotated[
        str, typer.Option(metavar="REV", help="The revision that the change will be merged into.")
    ],
    head: Annotated[
        str, typer.Option(metavar="REV", help="The last revision of the change.")
    ] = "HEAD",
    repo: Annotated[
        Path,
        typer.Option(metavar="PATH", help="The repository.", exists=True, file_okay=False),
    ] = Path(),
    output_format: Annotated[
        Format, typer.Option(help="`json` is the payload of GitHub's endpoint for reviews.")
    ] = Format.TEXT,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the review instead of posting it.")
    ] = False,
) -> None:
    """Report what the commits from BASE to HEAD bring in, on the lines that they add.

    The files are taken from the repository, not from the working tree. The configuration is
    BASE's, so that a change cannot silence its own review.
    """
    if not dry_run:
        fail("posting reviews is not part of this version; add --dry-run to print the review")
    from tclint.config import ConfigError
    from tclint.lint.engine import check_files
    from tclint.report.repairs import fix_of
    from tclint.review.findings import review_range
    from tclint.review.git import Git, GitError
    from tclint.review.payload import compose
    from tclint.review.text import to_text

    try:
        outcome = review_range(Git(repo), base, head, check_files)
    except GitError as error:
        fail(str(error))
    except ConfigError as error:
        fail(f"in {base}: {error}")
    composed = compose(outcome, fix_of)
    if output_format is Format.JSON:
        write(json.dumps(composed.payload(), indent=2) + "\n")
    else:
        write(to_text(composed))
    raise typer.Exit(FINDINGS if outcome.introduced else CLEAN)
