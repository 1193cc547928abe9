"""Findings in files that are not open, for clients that want them: pulled, or pushed when saved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from lsprotocol import types

from tclint.server.document import Analysis
from tclint.server.results import full_report, report_id
from tclint.server.session import TclintServer
from tclint.server.survey import Survey, parts_of

QUIET: Final = 0.5
"""Seconds without news after which the workspace is looked through."""


async def diagnostic(
    ls: TclintServer, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """The findings of all files that are not open; those that are get reports of their own."""
    before = {known.uri: known.value for known in params.previous_result_ids}
    reports: list[types.WorkspaceDocumentDiagnosticReport] = []
    for analysis in await found(ls):
        for uri, shown in ls.items(analysis).items():
            name = report_id(None, shown)
            if before.pop(uri, None) == name:
                unchanged = types.WorkspaceUnchangedDocumentDiagnosticReport
                reports.append(unchanged(uri, name))
            else:
                full = types.WorkspaceFullDocumentDiagnosticReport
                reports.append(full(uri, shown, result_id=name))
    for uri in before:
        if ls.document_of(uri) is None:
            empty = full_report(None, ())
            full = types.WorkspaceFullDocumentDiagnosticReport
            reports.append(full(uri, [], result_id=empty.result_id))
    return types.WorkspaceDiagnosticReport(reports)


async def found(ls: TclintServer) -> list[Analysis]:
    """What is found in the files that are not open, where the settings ask for it.

    The worker does a part at a time, so that open documents need not wait for all.
    """
    analyses: list[Analysis] = []
    for folder in ls.folders:
        view = ls.view
        if not view.settings_of(folder / "x.py").whole_workspace:
            continue
        survey = await ls.on_worker(partial(_survey, ls, folder))
        if isinstance(survey, BaseException):
            ls.trouble.tell(str(folder), survey)
            continue
        for part in parts_of(survey):
            outcome = await ls.on_worker(partial(survey.examine, part))
            if isinstance(outcome, BaseException):
                ls.trouble.tell(str(folder), outcome)
                break
        else:
            finished = await ls.on_worker(survey.analyses)
            analyses += [] if isinstance(finished, BaseException) else finished
    return [*_closed(ls, analyses)]


def _survey(ls: TclintServer, folder: Path) -> Survey:
    return ls.surveys.of(folder, ls.view.config(ls.engine, folder / "x.py"), ls.view.texts)


def _closed(ls: TclintServer, analyses: Iterable[Analysis]) -> Iterator[Analysis]:
    opened = {document.path for document in ls.opened.values()}
    return (analysis for analysis in analyses if analysis.document.path not in opened)


def push_soon(ls: TclintServer) -> None:
    """Look through the workspace when nothing else happens, for a client that does not ask."""
    if ls.client.pulls:
        return
    if ls.surveying is not None:
        ls.surveying.cancel()
    ls.surveying = asyncio.create_task(_push(ls))


async def _push(ls: TclintServer) -> None:
    await asyncio.sleep(QUIET)
    told: set[str] = set()
    for analysis in await found(ls):
        for uri, shown in ls.items(analysis).items():
            if shown:
                told.add(uri)
                params = types.PublishDiagnosticsParams(uri, shown)
                ls.text_document_publish_diagnostics(params)
    for uri in ls.surveyed - told:
        if ls.document_of(uri) is None:
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
    ls.surveyed = told
