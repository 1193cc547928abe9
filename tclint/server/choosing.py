"""Code actions: offered for a place, and carried out when one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tclint.diagnostics import Decline
from tclint.server.actions import APPLY, Choice, Offer, edits_of
from tclint.server.convert import SOURCE
from tclint.server.document import Analysis, Reported
from tclint.server.rewriting import workspace_edit
from tclint.server.session import TclintServer


async def code_action(
    ls: TclintServer, params: types.CodeActionParams
) -> list[types.CodeAction | types.Command]:
    """What can be done about the findings at a place."""
    analysis = await ls.current(params.text_document.uri)
    if analysis is None:
        return []
    client = ls.client
    chosen = _chosen(analysis, params)
    offered = [*Offer(analysis, ls.columns, client).actions(chosen, params.context.only)]
    if not client.literals:
        return [_as_command(action) for action in offered if client.applies or action.command]
    if client.resolves:
        return [*offered]
    finished: list[types.CodeAction | types.Command] = []
    for action in offered:
        if action.command is None:
            edit = await edit_for(ls, analysis, Choice.from_data(action.data))
            if isinstance(edit, Decline):
                continue
            action.edit = edit
        finished.append(action)
    return finished


async def resolve(ls: TclintServer, action: types.CodeAction) -> types.CodeAction:
    """Work out the edits of the action that was chosen."""
    choice = Choice.from_data(action.data)
    if choice is None:
        return action
    action.edit = await edit_of_choice(ls, choice)
    return action


async def edit_of_choice(ls: TclintServer, choice: Choice) -> types.WorkspaceEdit:
    """The edits of a choice.

    Raises:
        JsonRpcException: the document has changed, or there are none.
    """
    analysis = await ls.current(choice.uri)
    if analysis is None or analysis.document.version != choice.version:
        raise JsonRpcException(
            "the document has changed since this action was offered",
            types.LSPErrorCodes.ContentModified,
        )
    edit = await edit_for(ls, analysis, choice)
    if isinstance(edit, Decline):
        raise JsonRpcException(edit.reason, types.LSPErrorCodes.RequestFailed)
    return edit


async def edit_for(
    ls: TclintServer, analysis: Analysis, choice: Choice | None
) -> types.WorkspaceEdit | Decline:
    """The edits of a choice as the client applies them."""
    if choice is None:
        return Decline("this is not one of tclint's actions")
    edits = await ls.on_worker(partial(edits_of, ls.engine, analysis, choice, ls.view))
    if isinstance(edits, BaseException):
        return Decline(f"tclint crashed: {type(edits).__name__}: {edits}")
    if isinstance(edits, Decline):
        return edits
    return workspace_edit(analysis, edits, ls.columns, versioned=ls.client.versions)


def _as_command(action: types.CodeAction) -> types.Command:
    """An action for a client that knows commands only."""
    return action.command or types.Command(action.title, APPLY, arguments=[action.data])


def _chosen(analysis: Analysis, params: types.CodeActionParams) -> tuple[Reported, ...]:
    """The findings that the client means: those it names, else those on the lines it shows."""
    found = analysis.find(_ids(params.context.diagnostics))
    part = analysis.document.part(params.text_document.uri)
    above = part.above + 1 if part is not None else 1
    return found or analysis.on_rows(params.range.start.line + above, params.range.end.line + above)


def _ids(diagnostics: Sequence[types.Diagnostic]) -> list[str]:
    ids: list[str] = []
    for diagnostic in diagnostics:
        match diagnostic.data:
            case {"id": str(name)} if diagnostic.source == SOURCE:
                ids.append(name)
    return ids
