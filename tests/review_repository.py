"""Throwaway Git repositories for the review's tests, and a fake check of their files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.source.decode import read_source
from tests.server_fake import FakeEngine

_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class Repository:
    """A repository that tests write commits into."""

    folder: Path

    def git(self, *arguments: str) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        done = subprocess.run(
            ("git", *arguments),
            cwd=self.folder,
            env={**environment, **_ENVIRONMENT},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def commit(self, files: dict[str, str | bytes | None]) -> str:
        """Write files (None deletes one), commit them all, and give the commit's name."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self._head()

    def _head(self) -> str:
        """The commit that was just made, read without starting git once more."""
        head = (self.folder / ".git/HEAD").read_text("utf-8").strip()
        ref = head.removeprefix("ref: ")
        return head if ref == head else (self.folder / ".git" / ref).read_text("utf-8").strip()


def new_repository(folder: Path) -> Repository:
    folder.mkdir()
    repository = Repository(folder)
    repository.git("init", "--quiet", "--template=", "--initial-branch=main")
    with (folder / ".git/config").open("a", encoding="utf-8") as config:
        config.write("[core]\n\tautocrlf = false\n")
    return repository


def fake_check(paths: Sequence[Path], config: Config) -> Any:
    """Report the bad words of :mod:`tests.server_fake` in files on disk."""
    texts = {path: read_source(path).text for path in paths}
    return FakeEngine().check(paths, config, texts)
