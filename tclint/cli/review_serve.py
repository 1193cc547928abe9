"""``tclint review serve``: the review as a bot."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tclint.cli.terminal import fail
from tclint.files import read_text

if TYPE_CHECKING:
    from tclint.review.secret import Secret

_NEEDS = frozenset({"httpx", "jwt", "starlette", "uvicorn", "fcntl", "resource"})


def serve(
    app_id: Annotated[
        str, typer.Option(metavar="ID", envvar="TCLINT_APP_ID", help="The GitHub App's id.")
    ],
    private_key: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            envvar="TCLINT_PRIVATE_KEY",
            help="The app's private key (PEM).",
            exists=True,
            dir_okay=False,
        ),
    ],
    folder: Annotated[
        Path,
        typer.Option(
            metavar="PATH",
            envvar="TCLINT_FOLDER",
            help="Folder for the queue, which survives restarts, and scratch files.",
            file_okay=False,
        ),
    ] = Path("tclint-bot"),
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8080,
    api_url: Annotated[
        str, typer.Option(metavar="URL", help="GitHub's API; Enterprise has it below /api/v3.")
    ] = "https://api.github.com",
    git_url: Annotated[
        str, typer.Option(metavar="URL", help="Where repositories are fetched from.")
    ] = "https://github.com",
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Number of concurrent reviews.")
    ] = 2,
    *,
    check_run: Annotated[
        bool, typer.Option("--check-run", help="Report as check runs instead of reviews.")
    ] = False,
    drafts: Annotated[bool, typer.Option("--drafts", help="Also review drafts.")] = False,
) -> None:
    """Review pull requests when GitHub's webhooks announce them.

    Send webhooks to /webhook; /healthz and /metrics report its state. The webhook's secret comes
    from TCLINT_WEBHOOK_SECRET.
    """
    try:
        from tclint.review.secret import Secret
        from tclint.review.service.serve import BusyError, run
        from tclint.review.service.settings import Settings
    except ModuleNotFoundError as error:
        if error.name not in _NEEDS:
            raise
        fail(f"tclint review serve needs {error.name}: pip install 'tclint-torch[review]'")
    settings = Settings(
        app_id=app_id,
        private_key=Secret(_text(private_key)),
        webhook_secret=_webhook_secret(),
        folder=folder,
        api_url=api_url,
        git_url=git_url,
        workers=workers,
        drafts=drafts,
        check_run=check_run,
    )
    try:
        run(settings, host, port)
    except (BusyError, OSError) as error:
        fail(str(error))


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {file}: {error}")


def _webhook_secret() -> Secret:
    from tclint.review.secret import Secret

    value = os.environ.get("TCLINT_WEBHOOK_SECRET", "")
    if not value:
        # An empty key would make every signature valid that anybody computes with it.
        fail("set TCLINT_WEBHOOK_SECRET to the secret of the app's webhook")
    return Secret(value)
