"""Code actions: which ones there are at a place, and the edits behind the one that was chosen.

Proposing costs nothing. Edits need LibCST, so they are worked out when an action is chosen, from
what the server knows of the document, and never for a document that has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from tclint.diagnostics import Applicability, Decline, Edit, Fix
from tclint.lint.engine import SYNTAX_ERROR
from tclint.server.convert import to_lsp
from tclint.server.document import Analysis, Reported
from tclint.server.engine import Engine
from tclint.server.positions import Columns
from tclint.server.textdiff import line_edits
from tclint.source.ignore_comments import ignore_edit

FIX_ALL_KIND = "source.fixAll.tclint"
_APPLICABLE = (Applicability.SAFE, Applicability.UNSAFE)


@dataclass(frozen=True, slots=True)
class Choice:
    """An action that the client may choose: it travels to the client and back as its ``data``."""

    uri: str
    version: int
    does: str
    id: str = ""

    def data(self) -> dict[str, str | int]:
        """The form that travels."""
        return {"uri": self.uri, "version": self.version, "does": self.does, "id": self.id}

    @classmethod
    def from_data(cls, data: object) -> Choice | None:
        """Read what came back; None when it is not ours."""
        match data:
            case {"uri": str(uri), "version": int(version), "does": str(does), "id": str(name)}:
                return cls(uri, version, does, name)
        return None


def wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a client that asks for these kinds of action wants this one."""
    return only is None or any(o in ("", kind) or kind.startswith(f"{o}.") for o in only)


def propose(
    analysis: Analysis, chosen: Sequence[Reported], only: Sequence[str] | None, columns: Columns
) -> Iterator[types.CodeAction]:
    """The actions for some findings, and for the whole document, still without their edits."""
    if wanted(types.CodeActionKind.QuickFix, only):
        for reported in chosen:
            if reported.result.diagnostic.fixable in _APPLICABLE:
                yield _fix(analysis, reported, columns)
        for reported in _one_per_code_and_row(chosen):
            yield _ignore(analysis, reported, columns)
    if wanted(FIX_ALL_KIND, only) and _any_safe(analysis):
        yield types.CodeAction(
            title="Fix all safe tclint problems",
            kind=FIX_ALL_KIND,
            data=_choice(analysis, "fix-all").data(),
        )


def edits_of(
    engine: Engine, analysis: Analysis, choice: Choice, overlay: Mapping[Path, str]
) -> tuple[Edit, ...] | Decline:
    """The edits of a chosen action; runs on a worker thread."""
    if choice.does == "fix-all":
        after = engine.fix_all(analysis.document.path, analysis.config, overlay)
        if after is None:
            return Decline("there is nothing left to fix safely")
        return line_edits(analysis.file, after)
    found = analysis.find([choice.id])
    if not found:
        return Decline("the finding is gone")
    if choice.does == "ignore":
        code = found[0].result.diagnostic.code
        edit = ignore_edit(analysis.file, [code], found[0].span.start.row)
        return edit if isinstance(edit, Decline) else (edit,)
    fix = engine.fix(found[0].result)
    return fix.edits if isinstance(fix, Fix) else fix or Decline("this finding has no fix")


def workspace_edit(
    analysis: Analysis, edits: Sequence[Edit], columns: Columns, *, versioned: bool
) -> types.WorkspaceEdit:
    """The edits as the client applies them; it refuses them when its version is another one."""
    uri = analysis.document.uri
    texts = [types.TextEdit(columns.range(analysis.file, e.span), e.content) for e in edits]
    if not versioned:
        return types.WorkspaceEdit(changes={uri: texts})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri, analysis.document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, texts)])


def _fix(analysis: Analysis, reported: Reported, columns: Columns) -> types.CodeAction:
    diagnostic = reported.result.diagnostic
    safe = diagnostic.fixable is Applicability.SAFE
    title = diagnostic.fix_message or f"Fix {diagnostic.code}"
    return types.CodeAction(
        title=title if safe else f"{title} (unsafe)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[to_lsp(analysis, reported, columns)],
        is_preferred=safe,
        data=_choice(analysis, "fix", reported).data(),
    )


def _ignore(analysis: Analysis, reported: Reported, columns: Columns) -> types.CodeAction:
    return types.CodeAction(
        title=f"Ignore {reported.result.diagnostic.code} on this line",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[to_lsp(analysis, reported, columns)],
        data=_choice(analysis, "ignore", reported).data(),
    )


def _choice(analysis: Analysis, does: str, reported: Reported | None = None) -> Choice:
    document = analysis.document
    return Choice(document.uri, document.version, does, reported.id if reported else "")


def _one_per_code_and_row(chosen: Sequence[Reported]) -> list[Reported]:
    firsts: dict[tuple[str, int], Reported] = {}
    for reported in chosen:
        code = reported.result.diagnostic.code
        # A file that does not parse has no statement for a comment to stand behind.
        if code != SYNTAX_ERROR:
            firsts.setdefault((code, reported.span.start.row), reported)
    return list(firsts.values())


def _any_safe(analysis: Analysis) -> bool:
    return any(r.result.diagnostic.fixable is Applicability.SAFE for r in analysis.reported)
