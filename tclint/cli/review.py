"""``tclint review``: what a pull request brings in, as a review of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tclint.cli.exits import CLEAN, FINDINGS
from tclint.cli.terminal import fail, note, warn, write
from tclint.printable import json_text
from tclint.review.forge import Forge, Mode

if TYPE_CHECKING:
    from tclint.review.findings import Outcome
    from tclint.review.plan import Review, Shown
    from tclint.review.target import Target


class Format(str, Enum):
    """How the review is printed."""

    TEXT = "text"
    JSON = "json"


class ConfigFrom(str, Enum):
    """Which side's configuration holds."""

    BASE = "base"
    HEAD = "head"


def review(
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Revision that the change will be merged into; by default read from the CI "
            "environment.",
            show_default=False,
        ),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Last revision of the change; by default that of the CI job, or HEAD.",
            show_default=False,
        ),
    ] = None,
    repo: Annotated[
        Path,
        typer.Option(metavar="PATH", help="The repository.", exists=True, file_okay=False),
    ] = Path(),
    mode: Annotated[
        Mode,
        typer.Option(
            help="`review` comments on the lines, `annotations` prints workflow commands, "
            "`dry-run` prints the review."
        ),
    ] = Mode.REVIEW,
    output_format: Annotated[
        Format, typer.Option(help="`json` is the payload of GitHub's endpoint for reviews.")
    ] = Format.TEXT,
    forge: Annotated[
        Forge | None,
        typer.Option(help="Where the pull request is; by default read from the CI environment."),
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="OWNER/NAME on GitHub; id or path on GitLab."),
    ] = None,
    pull: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The pull or merge request.")
    ] = None,
    api_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The forge's API, e.g. https://github.example.com/api/v3."
        ),
    ] = None,
    config_from: Annotated[
        ConfigFrom,
        typer.Option(
            help="Whose configuration to use; with `head`, a change can silence its own review."
        ),
    ] = ConfigFrom.BASE,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the findings as SARIF.")
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="The same as `--mode dry-run`.")
    ] = False,
    drafts: Annotated[bool, typer.Option("--drafts", help="Also review drafts.")] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit with 0 even if there are findings.")
    ] = False,
) -> None:
    """Report the findings that the commits from BASE to HEAD introduce, on the lines that they add.

    The files are taken from the repository, not from the working tree, and none of their code is
    run. The configuration is BASE's, so that a change cannot silence its own review. The token
    comes from GITHUB_TOKEN or GITLAB_TOKEN.
    """
    from tclint.cli.report_file import require_report
    from tclint.review.target import TargetError, target_from

    if sarif is not None:
        require_report("--sarif", sarif)
    chosen = Mode.DRY_RUN if dry_run else mode
    try:
        target = target_from(os.environ, forge)
    except TargetError as error:
        fail(str(error))
    target = replace(
        target,
        repository=repository or target.repository,
        number=pull or target.number,
        api_url=api_url or target.api_url,
        base=base or target.base,
        head=head or target.head or "HEAD",
    )
    if target.draft and not drafts and chosen is not Mode.DRY_RUN:
        note("a draft is not reviewed; add --drafts to review it anyway")
        raise typer.Exit(CLEAN)
    outcome = _outcome(target, repo, own_config=config_from is ConfigFrom.HEAD)
    if sarif is not None:
        _write_sarif(outcome, sarif)
    _tell(target, chosen, output_format, outcome)
    raise typer.Exit(FINDINGS if outcome.introduced and not exit_zero else CLEAN)


def _outcome(target: Target, repo: Path, *, own_config: bool) -> Outcome:
    from tclint.config import ConfigError
    from tclint.lint.engine import check_files
    from tclint.review.findings import change_of, review_range
    from tclint.review.git import Git, GitError
    from tclint.review.trust import distrust

    if not target.base:
        fail("it is not known what the change will be merged into: add --base REV")
    distrust(repo)
    git = Git(repo)
    try:
        change = change_of(git, target.base, target.head, own_config=own_config)
        outcome = review_range(git, change, check_files)
    except GitError as error:
        fail(str(error))
    except ConfigError as error:
        fail(f"in {target.head if own_config else target.base}: {error}")
    for problem in outcome.problems:
        warn(problem)
    return outcome


def _write_sarif(outcome: Outcome, file: Path) -> None:
    from tclint.cli.report_file import write_report
    from tclint.review.sarif import to_sarif

    write_report(file, to_sarif(outcome))


def _tell(target: Target, mode: Mode, output: Format, outcome: Outcome) -> None:
    from tclint.report.repairs import fix_of
    from tclint.review.compose import compose
    from tclint.review.github.bodies import review_payload
    from tclint.review.text import to_text

    def composed(shown: Shown | None) -> Review:
        return compose(outcome, fix_of, shown)

    if mode is Mode.DRY_RUN:
        made = composed(None)
        as_json = output is Format.JSON
        write(json_text(review_payload(made)) + "\n" if as_json else to_text(made))
    elif mode is Mode.ANNOTATIONS:
        from tclint.review.annotations import annotate

        write(annotate(composed(None), target.forge, os.environ))
    else:
        _post(target, outcome.head, composed)


def _post(target: Target, head: str, composed: Callable[[Shown | None], Review]) -> None:
    from tclint.review.target import TargetError, token_from

    try:
        from tclint.review.client import ApiError
        from tclint.review.publish import publish
    except ModuleNotFoundError as error:
        if error.name != "httpx":
            raise
        fail("posting reviews needs httpx: pip install 'tclint-torch[review]'")
    if not target.repository or not target.number:
        fail("it is not known which pull request it is: add --repository NAME and --pull NUMBER")
    try:
        told = publish(target, token_from(os.environ, target.forge), head, composed)
    except (TargetError, ApiError, ValueError) as error:
        fail(str(error))
    except (LookupError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        fail(f"{target.forge.value} answered in a form that tclint does not know ({what})")
    write(told.output)
    note(told.message)
