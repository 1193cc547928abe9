"""Fetches commits into a scratch repository: objects only, nothing is ever checked out."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tclint.git.run import command
from tclint.review.secret import Secret
from tclint.review.service.child import run_bounded
from tclint.review.service.settings import Settings

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def fetch(
    settings: Settings, full_name: str, commits: Sequence[str], token: Secret, folder: Path
) -> Path:
    """Fetch the commits, without their history, into a bare repository below ``folder``.

    Raises:
        ChildError: they cannot be had, or are larger than the bounds.
        ValueError: one is no commit's name.
    """
    for commit in commits:
        if not _COMMIT.fullmatch(commit):
            raise ValueError(f"{commit!r} is not a commit")
    repository = folder / "repository.git"
    run_bounded(
        command("init", "--quiet", "--bare", "--template=", str(repository)),
        folder,
        settings.bounds,
    )
    # --keep: one pack, whose size is bounded, rather than any number of files. One thread: each
    # takes memory of its own.
    address = f"{settings.git_url.rstrip('/')}/{full_name}.git"
    allowed = f"protocol.{address.partition(':')[0]}.allow"
    large = f"core.bigFileThreshold={settings.limits.file_bytes}"
    run_bounded(
        command(
            f"--git-dir={repository}",
            "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
            "--no-write-fetch-head", "--keep", "--", address, *dict.fromkeys(commits),
            settings=(large, "http.followRedirects=false", "pack.threads=1", f"{allowed}=always"),
        ),
        folder,
        settings.bounds,
        environment={
            # Not on the command line, which every user of the machine can read.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{settings.git_url.rstrip('/')}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {_basic(token)}",
            "GIT_ALLOW_PROTOCOL": address.partition(":")[0],
        },
    )  # fmt: skip
    return repository


def _basic(token: Secret) -> str:
    return b64encode(f"x-access-token:{token.reveal()}".encode()).decode()
