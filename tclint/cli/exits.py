"""Exit codes, the same for every command."""

from __future__ import annotations

from typing import Final

CLEAN: Final = 0
FINDINGS: Final = 1
ERROR: Final = 2
