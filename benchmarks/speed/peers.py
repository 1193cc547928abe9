"""Who is timed: command lines, and what has to be installed for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Arguments = Callable[[Path, Path], list[str]]
"""From the folder with a tool's programs and the folder to check to a command line."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A linter: ``packages`` go into an environment of their own."""

    name: str
    packages: tuple[str, ...]
    arguments: Arguments
    environment: Mapping[str, str] = field(default_factory=dict)


def ruff(binaries: Path, source: Path) -> list[str]:
    return [str(binaries / "ruff"), "check", "--no-cache", "--isolated", "-q", str(source)]


def torchfix(binaries: Path, source: Path) -> list[str]:
    return [str(binaries / "torchfix"), "--select", "ALL", str(source)]


def torchfix_in_flake8(binaries: Path, source: Path) -> list[str]:
    return [str(binaries / "flake8"), "--isolated", "--select", "TOR", "-j", "1", str(source)]


def fixit(binaries: Path, source: Path) -> list[str]:
    return [str(binaries / "fixit"), "lint", str(source)]


RUFF = Peer("ruff", ("ruff==0.17.6",), ruff, {"RAYON_NUM_THREADS": "1"})
SLOW = (
    Peer("TorchFix", ("torchfix==0.7.0",), torchfix),
    Peer("flake8 with TorchFix", ("torchfix==0.7.0", "flake8"), torchfix_in_flake8),
    Peer("Fixit", ("fixit==2.1.0",), fixit),
)
"""Peers that are timed on a sample: on whole packages they take many minutes."""


@dataclass(frozen=True, slots=True)
class Tclint:
    """How tclint is started: the one of this environment, unless another program is named."""

    start: tuple[str, ...] = (sys.executable, "-m", "tclint")

    def check(self, source: Path, cache: Path | None, jobs: int) -> list[str]:
        """A run; without a cache it is a cold one."""
        remember = ["--no-cache"] if cache is None else ["--cache-dir", str(cache)]
        return [
            *self.start, "check", "--isolated", "-q", *remember, "--jobs", str(jobs), str(source)
        ]  # fmt: skip

    def version(self) -> list[str]:
        """The least that it can be asked."""
        return [*self.start, "--version"]
