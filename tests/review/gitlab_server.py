"""GitLab on loopback: one merge request, with discussions that are remembered.

The shapes are those of GitLab's documentation of discussions, notes and merge requests, as JSON
Schemas that refuse what they do not name.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import uvicorn
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tclint.git.diff import shown_lines
from tests.review_repository import Repository

if TYPE_CHECKING:
    from starlette.requests import Request

_SHA = {"type": "string", "pattern": "^[0-9a-f]{40}$"}
_BODY = {"type": "string", "minLength": 1, "maxLength": 1_000_000}
_POSITION = {
    "type": "object",
    "properties": {
        "base_sha": _SHA,
        "start_sha": _SHA,
        "head_sha": _SHA,
        "position_type": {"enum": ["text"]},
        "old_path": {"type": "string"},
        "new_path": {"type": "string"},
        "new_line": {"type": "integer", "minimum": 1},
    },
    "required": ["base_sha", "start_sha", "head_sha", "position_type", "old_path", "new_path"],
    "additionalProperties": False,
}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_BODIES = {
    r"POST discussions": _object(body=_BODY, position=_POSITION),
    r"PUT discussions/\w+": _object(resolved={"type": "boolean"}),
    r"PUT discussions/\w+/notes/\d+": _object(body=_BODY),
    r"POST notes": _object(body=_BODY),
    r"PUT notes/\d+": _object(body=_BODY),
}


@dataclass
class GitLabServer:
    """One server with the merge request 7 of the project ``group/model``: change into main."""

    repository: Repository
    token: str = "glpat-0123456789SECRET"
    may_write: bool = True
    refuse_lines: bool = False
    state: str = "opened"
    url: str = ""
    discussions: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """Requests, as ``POST discussions``, that are carried out and answered with 502."""
    complaints: list[str] = field(default_factory=list)
    _names: int = 0

    @contextmanager
    def running(self) -> Iterator[GitLabServer]:
        """Serve on a free port of loopback."""
        methods = ["GET", "POST", "PUT", "DELETE"]
        application = Starlette(routes=[Route("/{path:path}", self._any, methods=methods)])
        config = uvicorn.Config(application, port=0, log_level="error", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.should_exit = True
            thread.join()

    def open_discussions(self) -> list[dict[str, Any]]:
        """Those that nobody has resolved."""
        return [d for d in self.discussions if not d["notes"][0]["resolved"]]

    async def _any(self, request: Request) -> Response:
        body = await request.json() if await request.body() else None
        return await run_in_threadpool(self._handle, request, body)

    def _handle(self, request: Request, body: Any) -> Response:
        method, path = request.method, request.scope["raw_path"].decode().partition("?")[0]
        if request.headers.get("private-token") != self.token:
            return JSONResponse({"message": "401 Unauthorized"}, 401)
        if path == "/user":
            return JSONResponse({"id": 5, "username": "tclint"})
        rest = path.removeprefix("/projects/group%2Fmodel/merge_requests/7").lstrip("/")
        if rest == path.lstrip("/"):
            return JSONResponse({"message": "404 Not found"}, 404)
        if method == "GET":
            return JSONResponse(self._get(rest, request))
        if not self.may_write:
            return JSONResponse({"message": "403 Forbidden"}, 403)
        if method != "DELETE":
            complaint = self._complaint(f"{method} {rest}", body)
            if complaint:
                self.complaints.append(complaint)
                return JSONResponse({"message": complaint}, 400)
        answer = self._change(method, rest, body)
        if f"{method} {rest}" in self.faults:
            self.faults.remove(f"{method} {rest}")
            return JSONResponse({"message": "fault"}, 502)
        return answer

    def _complaint(self, what: str, body: Any) -> str | None:
        for pattern, schema in _BODIES.items():
            if re.fullmatch(pattern, what):
                errors = [*Draft202012Validator(schema).iter_errors(body)]
                return f"{what}: {errors[0].message}" if errors else None
        return f"{what}: no such request"

    def _get(self, rest: str, request: Request) -> Any:
        if rest == "":
            refs = self._refs()
            return {"iid": 7, "state": self.state, "draft": False, "diff_refs": refs}
        items = {"diffs": self._diffs, "discussions": self._discussions, "notes": self._all_notes}
        size, page = (int(request.query_params[name]) for name in ("per_page", "page"))
        return items[rest]()[(page - 1) * size : page * size]

    def _refs(self) -> dict[str, str]:
        git = self.repository.git
        return {
            "base_sha": git("merge-base", "main", "change"),
            "start_sha": git("rev-parse", "main"),
            "head_sha": git("rev-parse", "change"),
        }

    def _diffs(self) -> list[dict[str, Any]]:
        git = self.repository.git
        names = git("diff", "--name-status", "-M", "main...change").splitlines()
        made = []
        for status, *paths in (line.split("\t") for line in names):
            patch = git("diff", "-M", "main...change", "--", *paths).partition("@@")
            made.append(
                {
                    "old_path": paths[0],
                    "new_path": paths[-1],
                    "diff": patch[1] + patch[2],
                    "deleted_file": status == "D",
                }
            )
        return made

    def _discussions(self) -> list[dict[str, Any]]:
        return self.discussions

    def _all_notes(self) -> list[dict[str, Any]]:
        return [*self.notes, *(note for d in self.discussions for note in d["notes"])]

    def _change(self, method: str, rest: str, body: Any) -> Response:
        kind, _, names = rest.partition("/")
        if kind == "notes":
            return self._note(method, names, body)
        if method == "POST":
            return self._discuss(body)
        discussion, _, note = names.partition("/notes/")
        found = next(d for d in self.discussions if d["id"] == discussion)
        if method == "DELETE":
            self.discussions.remove(found)
            return Response(status_code=204)
        first = found["notes"][0]
        assert note in ("", str(first["id"]))
        first.update({"resolved": True} if "resolved" in body else {"body": body["body"]})
        return JSONResponse(found)

    def _note(self, method: str, name: str, body: Any) -> Response:
        if method == "POST":
            self.notes.append(self._new_note(body["body"]))
            return JSONResponse(self.notes[-1], 201)
        note = next(n for n in self.notes if n["id"] == int(name))
        note["body"] = body["body"]
        return JSONResponse(note)

    def _discuss(self, body: Any) -> Response:
        position, shown = body["position"], {d["new_path"]: d for d in self._diffs()}
        file = shown.get(position["new_path"])
        lines = shown_lines(file["diff"]) if file else ()
        line = position["new_line"]
        refs = {key: position[key] for key in ("base_sha", "start_sha", "head_sha")}
        if (
            self.refuse_lines
            or file is None
            or position["old_path"] != file["old_path"]
            or refs != self._refs()
            or not any(stretch.holds(line, line) for stretch in lines)
        ):
            return JSONResponse({"message": "400 (Bad request) line_code can't be blank"}, 400)
        note = {**self._new_note(body["body"]), "resolved": False, "position": position}
        self._names += 1
        self.discussions.append({"id": f"d{self._names}", "notes": [note]})
        return JSONResponse(self.discussions[-1], 201)

    def _new_note(self, body: str) -> dict[str, Any]:
        self._names += 1
        return {"id": self._names, "body": body, "author": {"id": 5, "username": "tclint"}}
