"""What the client tells: documents, settings, folders and files that change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.uris import to_fs_path

from tclint.server import notebooks, workspace
from tclint.server.document import SUFFIXES, Document
from tclint.server.session import PATIENCE, TclintServer
from tclint.server.settings import SECTION, read_settings
from tclint.server.texts import changed
from tclint.source.discovery import FILE_NAMES
from tclint.torch_bounds import PATTERNS

WATCHED: Final = (
    "**/*.py",
    "**/*.ipynb",
    *(f"**/{name}" for name in dict.fromkeys((*FILE_NAMES, *PATTERNS))),
)


def initialize(ls: TclintServer, params: types.InitializeParams) -> None:
    """Take over the settings that come with the first message."""
    ls.settings, wrong = read_settings(params.initialization_options, ls.settings)
    ls.wrong_settings = wrong


async def initialized(ls: TclintServer, _: types.InitializedParams) -> None:
    """Ask for what the client can tell only now."""
    for message in ls.wrong_settings:
        ls.trouble.say(message, f"tclint: {message}")
    await ask_settings(ls)
    ls.settled.set()
    watched = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
    wanted = []
    if ls.client.file_watch:
        options = types.DidChangeWatchedFilesRegistrationOptions(watched)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        wanted.append(types.Registration("tclint-files", method, options))
    if ls.client.configuration_watch:
        about = types.DidChangeConfigurationRegistrationOptions(SECTION)
        method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
        wanted.append(types.Registration("tclint-settings", method, about))
    if wanted:
        await ls.client_register_capability_async(types.RegistrationParams(wanted))


async def ask_settings(ls: TclintServer) -> None:
    """Ask a client that answers for its settings, for each folder of the workspace."""
    if not ls.client.configuration:
        return
    folders = ls.folders
    wanted = [types.ConfigurationItem(section=SECTION)]
    wanted += [types.ConfigurationItem(folder.as_uri(), SECTION) for folder in folders]
    question = ls.workspace_configuration_async(types.ConfigurationParams(wanted))
    try:
        said = await asyncio.wait_for(question, PATIENCE)
    except asyncio.TimeoutError:
        return
    answers = list(said)
    ls.settings, wrong = read_settings(answers[0] if answers else None, ls.settings)
    for folder, own in zip(folders, answers[1:], strict=False):
        ls.folder_settings[folder], more = read_settings(own, ls.settings)
        wrong += more
    for message in dict.fromkeys(wrong):
        ls.trouble.say(message, f"tclint: {message}")


def did_open(ls: TclintServer, params: types.DidOpenTextDocumentParams) -> None:
    """Check a document that is opened."""
    item = params.text_document
    if item.language_id == "python" or item.uri.endswith(SUFFIXES[:2]):
        document = Document(item.uri, ls.path_of(item.uri), item.version, item.text)
        ls.show(document, at_once=True)
        workspace.push_soon(ls)


def did_change(ls: TclintServer, params: types.DidChangeTextDocumentParams) -> None:
    """Carry out the changes of a document."""
    known = ls.opened.get(params.text_document.uri)
    if known is not None:
        text = changed(known.text, params.content_changes, ls.columns)
        version = params.text_document.version
        ls.show(replace(known, version=version, text=text), at_once=False)


def did_save(ls: TclintServer, _: types.DidSaveTextDocumentParams) -> None:
    """What is on disk now may matter to any document."""
    if ls.client.file_watch:
        ls.check_all()
    else:
        ls.look_again()
    workspace.push_soon(ls)


def did_close(ls: TclintServer, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a document; others see the file on disk from now on."""
    if params.text_document.uri in ls.opened:
        ls.closed(params.text_document.uri)
        ls.check_all()
        workspace.push_soon(ls)


def notebook_did_open(ls: TclintServer, params: types.DidOpenNotebookDocumentParams) -> None:
    """Check a notebook that is opened."""
    notebook = notebooks.opened(params)
    ls.notebooks[notebook.uri] = notebook
    ls.show(notebook.document(_notebook_path(ls, notebook.uri)), at_once=True)


def notebook_did_change(ls: TclintServer, params: types.DidChangeNotebookDocumentParams) -> None:
    """Carry out the changes of a notebook's cells."""
    notebook = ls.notebooks.get(params.notebook_document.uri)
    if notebook is None:
        return
    known = ls.opened[notebook.uri]
    notebook.change(params, ls.columns)
    document = notebook.document(_notebook_path(ls, notebook.uri))
    ls.show(document, at_once=False)
    ls.clear(known.uris, document.uris)


def notebook_did_save(ls: TclintServer, _: types.DidSaveNotebookDocumentParams) -> None:
    """What is on disk now may matter to any document."""
    ls.check_all()


def notebook_did_close(ls: TclintServer, params: types.DidCloseNotebookDocumentParams) -> None:
    """Forget a notebook."""
    ls.closed(params.notebook_document.uri)


async def did_change_configuration(
    ls: TclintServer, params: types.DidChangeConfigurationParams
) -> None:
    """Take over settings: those that are sent, or those that the client says when asked."""
    if ls.client.configuration:
        await ask_settings(ls)
    else:
        ls.settings, wrong = read_settings(params.settings, ls.settings)
        for message in wrong:
            ls.trouble.say(message, f"tclint: {message}")
    ls.look_again()
    ls.refresh_more()
    workspace.push_soon(ls)


def did_change_watched_files(ls: TclintServer, params: types.DidChangeWatchedFilesParams) -> None:
    """Files on disk have changed: those that are not open count, and configurations."""
    same = types.FileChangeType.Changed
    if all(c.type is same and not c.uri.endswith(FILE_NAMES) for c in params.changes):
        ls.check_all()
    else:
        ls.look_again()
    workspace.push_soon(ls)


async def did_change_folders(
    ls: TclintServer, params: types.DidChangeWorkspaceFoldersParams
) -> None:
    """Folders have come or gone."""
    for folder in params.event.removed:
        ls.folder_settings.pop(Path(to_fs_path(folder.uri) or ""), None)
    await ask_settings(ls)
    ls.look_again()
    workspace.push_soon(ls)


def _notebook_path(ls: TclintServer, uri: str) -> Path:
    path = ls.path_of(uri)
    return path if path.suffix == ".ipynb" else path.with_suffix(".ipynb")
