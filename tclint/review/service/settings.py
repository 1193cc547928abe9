"""What the bot is told when it starts."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from tclint.records import record
from tclint.review.client import Patience
from tclint.review.limits import Limits
from tclint.review.secret import Secret


@record(frozen=True)
class Bounds:
    """What one review may use: seconds of wall time, bytes of memory and of each file.

    ``pack_bytes`` bounds what is fetched, compressed.
    """

    seconds: float = 300.0
    memory_bytes: int = 4 * 1024**3
    pack_bytes: int = 1024**3


@record(frozen=True)
class Settings:
    """Everything the bot is steered by.

    ``git_url`` is where repositories are cloned from; ``folder`` holds the queue and scratch
    files. ``settling`` is how long (seconds) a request of a run that was killed may take effect.
    """

    app_id: str
    private_key: Secret
    webhook_secret: Secret
    folder: Path
    api_url: str = "https://api.github.com"
    git_url: str = "https://github.com"
    workers: int = 2
    drafts: bool = False
    check_run: bool = False
    attempts: int = 8
    first_delay: float = 30.0
    settling: float = 15.0
    grace: float = 30.0
    bounds: Bounds = field(default_factory=Bounds)
    limits: Limits = field(default_factory=Limits)
    patience: Patience = field(default_factory=Patience)
