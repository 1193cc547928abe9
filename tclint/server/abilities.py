"""What the client can do, of all that the protocol leaves open."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from tclint.records import record


@record(frozen=True)
class Abilities:
    """Everything is false for a client that says nothing of itself."""

    related: bool = False
    tags: bool = False
    links: bool = False
    data: bool = False
    literals: bool = False
    resolves: bool = False
    versions: bool = False
    applies: bool = False
    pulls: bool = False
    related_documents: bool = False
    markdown: bool = False
    shows_pages: bool = False
    configuration: bool = False
    configuration_watch: bool = False
    file_watch: bool = False
    refreshes: frozenset[str] = frozenset()


def abilities_of(client: types.ClientCapabilities) -> Abilities:
    """Read what a client says of itself."""
    text, workspace, window = client.text_document, client.workspace, client.window
    published = _get(text, "publish_diagnostics")
    pulled = _get(text, "diagnostic")
    # What is said of pushed diagnostics holds for pulled ones where those say nothing.
    shown = [one for one in (published, pulled) if one is not None]
    actions = _get(text, "code_action")
    resolved = _get(actions, "resolve_support", "properties") or ()
    formats = _get(text, "hover", "content_format") or ()
    refreshing = {"diagnostics": "diagnostics", "code_lens": "lens"}
    return Abilities(
        related=any(_get(one, "related_information") for one in shown),
        tags=any(_get(one, "tag_support") is not None for one in shown),
        links=any(_get(one, "code_description_support") for one in shown),
        data=any(_get(one, "data_support") for one in shown),
        literals=_get(actions, "code_action_literal_support") is not None,
        resolves="edit" in resolved and bool(_get(actions, "data_support", or_else=True)),
        versions=bool(_get(workspace, "workspace_edit", "document_changes")),
        applies=bool(_get(workspace, "apply_edit")),
        pulls=pulled is not None,
        related_documents=bool(_get(pulled, "related_document_support")),
        markdown=types.MarkupKind.Markdown in formats,
        shows_pages=bool(_get(window, "show_document", "support")),
        configuration=bool(_get(workspace, "configuration")),
        configuration_watch=_registers(workspace, "did_change_configuration"),
        file_watch=_registers(workspace, "did_change_watched_files"),
        refreshes=frozenset(
            short for name, short in refreshing.items() if _get(workspace, name, "refresh_support")
        ),
    )


def _registers(workspace: Any, name: str) -> bool:
    return bool(_get(workspace, name, "dynamic_registration"))


def _get(owner: Any, *names: str, or_else: Any = None) -> Any:
    """The value at the end of a chain of attributes of which each may be None."""
    for name in names:
        owner = getattr(owner, name, None)
    return or_else if owner is None else owner
