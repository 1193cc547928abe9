"""The codes of tclint's own findings; a cached run needs them, but not the rules' classes."""

from __future__ import annotations

from typing import Final

SYNTAX_ERROR: Final = "TCL001"
UNUSED_SUPPRESSION: Final = "TCL002"
INVALID_SUPPRESSION: Final = "TCL003"
NOT_FOLLOWED: Final = "TCL004"
