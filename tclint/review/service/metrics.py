"""Figures for Prometheus."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

_HELP: Final = {
    "tclint_webhooks_total": "Webhooks by what became of them.",
    "tclint_reviews_total": "Reviews by how they ended.",
    "tclint_comments_total": "Comments by what was done to them.",
    "tclint_review_seconds_sum": "Seconds spent on reviews.",
    "tclint_review_seconds_count": "Reviews that took time.",
}


class Metrics:
    """Counters; adding is safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: Counter[tuple[str, str]] = Counter()
        self._seconds = 0.0

    def add(self, name: str, label: str = "", by: int = 1) -> None:
        """Count; ``label`` is ``key="value"`` with values of our own choice only."""
        with self._lock:
            self._counters[name, label] += by

    def took(self, seconds: float) -> None:
        """Count a review's time."""
        with self._lock:
            self._seconds += seconds
            self._counters["tclint_review_seconds_count", ""] += 1

    def render(self, jobs: Mapping[str, int]) -> str:
        """All figures as text."""
        with self._lock:
            values = {**self._counters, ("tclint_review_seconds_sum", ""): self._seconds}
        lines = ["# HELP tclint_jobs Jobs by state.", "# TYPE tclint_jobs gauge"]
        for state in ("queued", "running", "failed"):
            lines.append(f'tclint_jobs{{state="{state}"}} {jobs.get(state, 0)}')
        for name, text in _HELP.items():
            lines += (f"# HELP {name} {text}", f"# TYPE {name} counter")
            for (key, label), value in sorted(values.items()):
                if key == name:
                    lines.append(f"{key}{{{label}}} {value:g}" if label else f"{key} {value:g}")
        return "\n".join(lines) + "\n"
