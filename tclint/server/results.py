"""Reports of findings for clients that ask, named so that they need not be sent twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from lsprotocol import types


def report_id(version: int | None, found: Sequence[types.Diagnostic]) -> str:
    """The name of a report: another one when anything in it, or the version, is another."""
    digest = hashlib.blake2b(repr(found).encode("utf-8", "backslashreplace"), digest_size=12)
    return f"{version}:{digest.hexdigest()}"


def full_report(
    version: int | None, found: Sequence[types.Diagnostic]
) -> types.FullDocumentDiagnosticReport:
    """A report of everything that is found in a text."""
    return types.FullDocumentDiagnosticReport([*found], report_id(version, found))
