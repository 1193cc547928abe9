"""GitHub on loopback: real repositories, comments that are remembered, faults on demand.

Requests are held to GitHub's own description, tokens are checked, and a comment on a line that the
diff does not show is refused, as GitHub does.
"""

from __future__ import annotations

import re
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tclint.git.diff import shown_lines
from tclint.review.github.threads import RESOLVE, THREADS
from tests.review.git_http import git_http
from tests.review.openapi import description
from tests.review_repository import Repository

if TYPE_CHECKING:
    from starlette.requests import Request

Answer = tuple[int, Any]


@dataclass
class Pull:
    """A pull request: branches are names in its repository."""

    number: int
    base: str = "main"
    head: str = "change"
    draft: bool = False
    state: str = "open"
    hidden: frozenset[str] = frozenset()
    """Files whose diff GitHub does not show."""
    unlisted: bool = False
    """Whether GitHub lists no files at all: there are too many."""


@dataclass
class Fault:
    """Something that goes wrong the next ``times`` that a request matches."""

    method: str
    path: str
    status: int
    done: bool = False
    """Whether the request is carried out all the same."""
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1


@dataclass
class GitHubServer:
    """One server with any number of repositories; every one has the pull requests in ``pulls``."""

    repositories: dict[str, Repository]
    pulls: dict[tuple[str, int], Pull]
    token: str = "ghs_0123456789abcdefSECRET"
    may_write: bool = True
    may_resolve: bool = False
    delay: float = 0.0
    login: str = "tclint-bot[bot]"
    comments: list[dict[str, Any]] = field(default_factory=list)
    reviews: list[dict[str, Any]] = field(default_factory=list)
    resolved: set[int] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    before: Callable[[str, str], None] = lambda method, path: None
    url: str = ""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _names: int = 100

    def bodies(self, number: int | None = None) -> list[str]:
        """The bodies of comments that stand."""
        return [c["body"] for c in self.comments if number in (None, c["number"])]

    def live(self, repository: str = "", number: int | None = None) -> list[dict[str, Any]]:
        """The comments whose finding is said to be there."""
        return [
            comment
            for comment in self.comments
            if "<!-- tclint:resolved" not in comment["body"]
            and number in (None, comment["number"])
            and repository in ("", comment["repository"])
        ]

    def posts(self) -> int:
        """How many reviews were asked for."""
        return sum(bool(re.fullmatch(r"POST .*/reviews", line)) for line in self.requests)

    @contextmanager
    def running(self) -> Iterator[GitHubServer]:
        """Serve on a free port of loopback."""
        application = Starlette(
            routes=[
                Route("/git/{path:path}", self._git, methods=["GET", "POST"]),
                Route("/{path:path}", self._any, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
            ]
        )
        config = uvicorn.Config(application, port=0, log_level="error", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        try:
            yield self
        finally:
            server.should_exit = True
            thread.join()

    async def _git(self, request: Request) -> Response:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme != "Basic" or b64decode(given).decode() != f"x-access-token:{self.token}":
            return Response(status_code=401)
        folders = {name: repository.folder for name, repository in self.repositories.items()}
        body = await request.body()
        return await run_in_threadpool(git_http, request, body, folders)

    async def _any(self, request: Request) -> Response:
        body = await request.json() if await request.body() else None
        return await run_in_threadpool(self._handle, request, body)

    def _handle(self, request: Request, body: Any) -> Response:
        method, path = request.method, request.url.path
        self.before(method, path)
        time.sleep(self.delay)
        with self._lock:
            self.requests.append(f"{method} {path}")
            if not self._authorized(request):
                return JSONResponse({"message": "Bad credentials"}, 401)
            complaint = None if path == "/graphql" else description().complaint(method, path, body)
            if complaint is not None:
                self.complaints.append(complaint)
                return JSONResponse({"message": complaint}, 422)
            fault = self._fault(method, path)
            if fault is not None and not fault.done:
                return JSONResponse({"message": "fault"}, fault.status, fault.headers)
            status, answer = self._route(method, path, body, request)
            if fault is not None:
                return JSONResponse({"message": "fault"}, fault.status, fault.headers)
            return Response(status_code=204) if status == 204 else JSONResponse(answer, status)

    def _authorized(self, request: Request) -> bool:
        return request.headers.get("authorization") == f"Bearer {self.token}"

    def _fault(self, method: str, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.times and fault.method == method and re.search(fault.path, path):
                fault.times -= 1
                return fault
        return None

    def _route(self, method: str, path: str, body: Any, request: Request) -> Answer:
        if path == "/user":
            if self.login.endswith("[bot]"):
                return 403, {"message": "Resource not accessible by integration"}
            return 200, description().answer("private-user", login=self.login)
        if path == "/graphql":
            return 200, self._graphql(body)
        if method != "GET" and not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        _, _, owner, name, rest = path.split("/", 4)
        return self._in_repository(method, f"{owner}/{name}", rest, body, request)

    def _in_repository(
        self, method: str, full_name: str, rest: str, body: Any, request: Request
    ) -> Answer:
        if found := re.fullmatch(r"pulls/comments/(\d+)", rest):
            return self._comment(method, int(found[1]), body)
        if found := re.fullmatch(r"pulls/(\d+)(?:/(\w+))?(?:/(\d+))?", rest):
            number = int(found[1])
            pull = self.pulls.get((full_name, number))
            if pull is None:
                return 404, {"message": "Not Found"}
            return self._in_pull(method, full_name, pull, found[2], found[3], body, request)
        return 404, {"message": "Not Found"}

    def _in_pull(
        self, method: str, full_name: str, pull: Pull, part: str | None, name: str | None,
        body: Any, request: Request,
    ) -> Answer:  # fmt: skip
        if part is None:
            return 200, self._pull(full_name, pull)
        if part == "files":
            return 200, _page(self._files(full_name, pull), request)
        if part == "comments":
            return 200, _page(self._of(self.comments, full_name, pull), request)
        if method == "GET":
            return 200, _page(self._of(self.reviews, full_name, pull), request)
        if method == "PUT":
            review = next(r for r in self.reviews if r["id"] == int(name or 0))
            review["body"] = body["body"]
            return 200, review
        return self._create_review(full_name, pull, body)

    def _of(self, items: list[dict[str, Any]], full_name: str, pull: Pull) -> list[dict[str, Any]]:
        return [i for i in items if (i["repository"], i["number"]) == (full_name, pull.number)]

    def _pull(self, full_name: str, pull: Pull) -> dict[str, Any]:
        git = self.repositories[full_name].git
        made = description().answer(
            "pull-request", number=pull.number, state=pull.state, draft=pull.draft
        )
        base = {**made["base"], "sha": git("rev-parse", pull.base)}
        base["repo"] = {**base["repo"], "full_name": full_name}
        head = {**made["head"], "sha": git("rev-parse", pull.head)}
        head["repo"] = base["repo"]
        return {**made, "base": base, "head": head}

    def _patches(self, full_name: str, pull: Pull) -> dict[str, str]:
        if pull.unlisted:
            return {}
        git = self.repositories[full_name].git
        fork = git("merge-base", pull.base, pull.head)
        names = git("diff", "--name-only", "--no-renames", "-z", fork, pull.head).split("\0")
        return {
            name: "@@" + patch[1]
            for name in names
            if name and name not in pull.hidden
            and len(patch := git("diff", "-M", fork, pull.head, "--", name).split("@@", 1)) > 1
        }  # fmt: skip

    def _files(self, full_name: str, pull: Pull) -> list[dict[str, Any]]:
        if pull.unlisted:
            return []
        git = self.repositories[full_name].git
        fork = git("merge-base", pull.base, pull.head)
        names = git("diff", "--name-only", "--no-renames", fork, pull.head).splitlines()
        patches = self._patches(full_name, pull)
        return [
            description().answer(
                "diff-entry", filename=name, **({"patch": patches[name]} if name in patches else {})
            )
            for name in names
        ]

    def _create_review(self, full_name: str, pull: Pull, body: Any) -> Answer:
        patches = self._patches(full_name, pull)
        for comment in body["comments"]:
            shown = shown_lines(patches.get(comment["path"], ""))
            first = comment.get("start_line", comment["line"])
            if not any(stretch.holds(first, comment["line"]) for stretch in shown):
                return 422, {
                    "message": "Unprocessable Entity",
                    "errors": ["Line could not be resolved"],
                }
            if comment.get("start_line") == comment["line"] or len(comment["body"]) > 65536:
                return 422, {"message": "Validation Failed"}
        place = {"repository": full_name, "number": pull.number}
        kind = "Bot" if self.login.endswith("[bot]") else "User"
        user = description().answer("simple-user", login=self.login, type=kind)
        for comment in body["comments"]:
            made = description().answer(
                "pull-request-review-comment",
                id=self._name(),
                user=user,
                path=comment["path"],
                body=comment["body"],
                line=comment["line"],
                original_line=comment["line"],
                start_line=comment.get("start_line"),
                original_start_line=comment.get("start_line"),
            )
            self.comments.append({**made, **place})
        review = description().answer(
            "pull-request-review",
            id=self._name(),
            user=user,
            body=body["body"],
            html_url=f"https://github.example.com/r/{self._names}",
        )
        self.reviews.append({**review, **place})
        return 200, review

    def _comment(self, method: str, name: int, body: Any) -> Answer:
        comment = next(c for c in self.comments if c["id"] == name)
        if method == "DELETE":
            self.comments.remove(comment)
            return 204, None
        comment["body"] = body["body"]
        return 200, comment

    def _graphql(self, body: Any) -> Any:
        if body["query"] == THREADS:
            number = body["variables"]["number"]
            nodes = [
                {
                    "id": f"T{comment['id']}",
                    "isResolved": comment["id"] in self.resolved,
                    "comments": {"nodes": [{"databaseId": comment["id"]}]},
                }
                for comment in self.comments
                if comment["number"] == number
            ]
            threads = {"pageInfo": {"hasNextPage": False, "endCursor": None}, "nodes": nodes}
            return {"data": {"repository": {"pullRequest": {"reviewThreads": threads}}}}
        assert body["query"] == RESOLVE
        if not self.may_resolve:
            return {"data": {"resolveReviewThread": None}, "errors": [{"type": "FORBIDDEN"}]}
        self.resolved.add(int(body["variables"]["thread"][1:]))
        return {"data": {"resolveReviewThread": {"thread": {"isResolved": True}}}}

    def _name(self) -> int:
        self._names += 1
        return self._names


def _page(items: list[Any], request: Request) -> list[Any]:
    size = int(request.query_params.get("per_page", 30))
    start = (int(request.query_params.get("page", 1)) - 1) * size
    return items[start : start + size]
