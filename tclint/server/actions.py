"""Code actions: which ones there are at a place, and the edits behind the one that was chosen.

Proposing costs nothing. Edits need LibCST, so they are worked out when an action is chosen, from
what the server knows of the document, and never for a document that has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types

from tclint.diagnostics import Applicability, Decline, Edit, Fix
from tclint.lint.codes import SYNTAX_ERROR
from tclint.lint.selection import longest_prefix
from tclint.records import record
from tclint.server.abilities import Abilities
from tclint.server.analyze import View
from tclint.server.convert import to_lsp
from tclint.server.document import Analysis, Reported
from tclint.server.engine import Engine
from tclint.server.positions import Columns
from tclint.server.textdiff import line_edits
from tclint.source.ignore_comments import ignore_edit

FIX_ALL_KIND = "source.fixAll.tclint"
APPLY = "tclint.apply"
EXPLAIN = "tclint.explain"
_APPLICABLE = (Applicability.SAFE, Applicability.UNSAFE)


@record(frozen=True)
class Choice:
    """An action that the client may choose: it travels to the client and back as its ``data``.

    ``does`` is ``fix`` or ``ignore`` with the id of a finding, ``fix-rule`` with a code, or
    ``fix-all``.
    """

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


@record(frozen=True)
class Offer:
    """Makes the actions for one document and client."""

    analysis: Analysis
    columns: Columns
    client: Abilities

    def actions(
        self, chosen: Sequence[Reported], only: Sequence[str] | None
    ) -> Iterator[types.CodeAction]:
        """The actions for some findings, and for the whole document, still without edits."""
        if wanted(types.CodeActionKind.QuickFix, only):
            yield from self._quick(chosen)
        if wanted(FIX_ALL_KIND, only) and self._fixable(""):
            yield types.CodeAction(
                title="Fix all safe tclint problems", kind=FIX_ALL_KIND, data=self._data("fix-all")
            )

    def _quick(self, chosen: Sequence[Reported]) -> Iterator[types.CodeAction]:
        for reported in chosen:
            if self._applicability(reported) in _APPLICABLE:
                yield self._fix(reported)
        codes = dict.fromkeys(reported.result.diagnostic.code for reported in chosen)
        for code in codes:
            if self._fixable(code) > 1:
                title = f"Fix all safe {code} problems in this file"
                yield self._action(title, self._data("fix-rule", code))
        for reported in _one_per_code_and_row(chosen):
            code = reported.result.diagnostic.code
            data = self._data("ignore", reported.id)
            yield self._action(f"Ignore {code} on this line", data, reported)
        for code in codes:
            command = types.Command(f"Explain {code}", EXPLAIN, arguments=[code])
            yield types.CodeAction(
                title=f"Explain {code}", kind=types.CodeActionKind.QuickFix, command=command
            )

    def _fix(self, reported: Reported) -> types.CodeAction:
        diagnostic = reported.result.diagnostic
        safe = diagnostic.fixable is Applicability.SAFE
        title = diagnostic.fix_message or f"Fix {diagnostic.code}"
        data = self._data("fix", reported.id)
        action = self._action(title if safe else f"{title} (unsafe)", data, reported)
        action.is_preferred = safe
        return action

    def _action(
        self, title: str, data: dict[str, str | int], reported: Reported | None = None
    ) -> types.CodeAction:
        shown = [to_lsp(self.analysis, reported, self.columns, self.client)] if reported else None
        kind = types.CodeActionKind.QuickFix
        return types.CodeAction(title=title, kind=kind, diagnostics=shown, data=data)

    def _data(self, does: str, name: str = "") -> dict[str, str | int]:
        document = self.analysis.document
        return Choice(document.uri, document.version, does, name).data()

    def _fixable(self, code: str) -> int:
        """How many safe fixes there are, of one rule or of all."""
        return sum(
            self._applicability(reported) is Applicability.SAFE
            and code in ("", reported.result.diagnostic.code)
            for reported in self.analysis.reported
        )

    def _applicability(self, reported: Reported) -> Applicability | None:
        """How a finding's fix may be applied; None where the configuration wants no fixes."""
        diagnostic, config = reported.result.diagnostic, self.analysis.config
        is_wanted = not config.fixable or longest_prefix(diagnostic.code, config.fixable) >= 0
        is_unwanted = longest_prefix(diagnostic.code, config.unfixable) >= 0
        return diagnostic.fixable if is_wanted and not is_unwanted else None


def edits_of(
    engine: Engine, analysis: Analysis, choice: Choice, view: View
) -> tuple[Edit, ...] | Decline:
    """The edits of a chosen action; runs on a worker thread."""
    path, config = analysis.document.path, analysis.config
    if choice.does in ("fix-all", "fix-rule"):
        paths = view.around(engine, path, config)
        after = engine.fix_all(path, paths, config, view.texts, choice.id)
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


def _one_per_code_and_row(chosen: Sequence[Reported]) -> list[Reported]:
    firsts: dict[tuple[str, int], Reported] = {}
    for reported in chosen:
        code = reported.result.diagnostic.code
        # A file that does not parse has no statement for a comment to stand behind.
        if code != SYNTAX_ERROR:
            firsts.setdefault((code, reported.span.start.row), reported)
    return list(firsts.values())
