"""Runs the bot as ``tclint review serve`` does, with waits that suit tests.

With ``stub`` among the settings every change has one finding on line 7 of ``net.py``, and nothing
is fetched: for tests of everything but the analysis.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tclint.review.client import Patience
from tclint.review.findings import Change
from tclint.review.limits import Limits
from tclint.review.plan import Comment, Review
from tclint.review.secret import Secret
from tclint.review.service import protocol, serve, web, worker
from tclint.review.service.settings import Bounds, Settings
from tests.review.bot import SECRET


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    more = config["settings"]
    if more.pop("stub", False):
        worker.analyse = _one_finding
        worker.fetch = lambda *_: Path()
    if "waits" in more:
        # Seconds for a request's headers, for its body, for all of it, until the next,
        # and for those that are open when it ends.
        protocol.HEADERS_SECONDS, web.BODY_SECONDS, *others = more.pop("waits")
        protocol.REQUEST_SECONDS, protocol.IDLE_SECONDS, serve._SHUTDOWN = others
    protocol._AT_ONCE = more.pop("at_once", protocol._AT_ONCE)
    settings = Settings(
        app_id="12345",
        private_key=Secret(Path(config["key"]).read_text()),
        webhook_secret=SECRET,
        folder=Path(config["folder"]),
        api_url=config["api_url"],
        git_url=config["git_url"],
        bounds=Bounds(**more.pop("bounds", {})),
        limits=Limits(**more.pop("limits", {})),
        patience=Patience(
            first_wait=0.05,
            longest_wait=more.pop("longest_wait", 2.0),
            longest_answer=more.pop("longest_answer", 5.0),
        ),
        **{"first_delay": 0.1, "settling": 1.0, **more},
    )
    serve.run(settings, "127.0.0.1", config["port"])


def _one_finding(settings: Settings, repository: Path, change: Change, shown: Any) -> Review:
    mark = "0123456789abcdef:1"
    comment = Comment("net.py", 7, 7, 7, "text", None, mark)
    summary = f"summary\n\n<!-- tclint:review {change.base} {change.head} -->"
    return Review(change.base, change.head, summary, (comment,), (), (mark,))


if __name__ == "__main__":
    main()
