"""The commands that the client may have the server carry out."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from tclint.lint.links import on_web, page_of
from tclint.server.actions import Choice
from tclint.server.choosing import edit_of_choice
from tclint.server.session import TclintServer


async def explain(ls: TclintServer, code: str) -> str:
    """A rule's page; a client that can is shown the one on the web, others a message.

    Raises:
        JsonRpcInvalidParams: no rule has the code.
    """
    page = ls.engine.page(code)
    if page is None:
        raise JsonRpcInvalidParams(f"no rule has the code {code!r}")
    url = on_web(page_of(code))
    if url is not None and ls.client.shows_pages:
        ls.window_show_document(types.ShowDocumentParams(url, external=True))
    else:
        message = f"{code}: {ls.engine.summary(code)}"
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))
    return page


async def apply(ls: TclintServer, data: dict[str, Any]) -> bool:
    """Carry out an action for a client that cannot do so itself."""
    choice = Choice.from_data(data)
    if choice is None:
        raise JsonRpcInvalidParams("this is not one of tclint's actions")
    edit = await edit_of_choice(ls, choice)
    answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "tclint"))
    return answer.applied
