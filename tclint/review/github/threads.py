"""Marks the threads of comments as resolved, which only GraphQL can."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from tclint.review.client import ApiError
from tclint.review.github.api import GitHub

THREADS: Final = """\
query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved comments(first: 1) { nodes { databaseId } } }
      }
    }
  }
}"""
RESOLVE: Final = """\
mutation ($thread: ID!) {
  resolveReviewThread(input: {threadId: $thread}) { thread { isResolved } }
}"""
_MAX_PAGES: Final = 20


def resolve_threads(github: GitHub, number: int, comments: Collection[str]) -> int:
    """Resolve the threads that these comments start, as far as the token may; returns how many.

    GitHub asks for write access to the code for this. A bot should not have that, so a refusal is
    no error: the comments themselves say that they are resolved.
    """
    done = 0
    try:
        for thread, comment in _open_threads(github, number):
            if comment in comments:
                if "errors" in github.query(RESOLVE, {"thread": thread}):
                    return done
                done += 1
    except ApiError:
        return done
    return done


def _open_threads(github: GitHub, number: int) -> Iterator[tuple[str, str]]:
    after: str | None = None
    for _ in range(_MAX_PAGES):
        answer = github.query(THREADS, {"number": number, "after": after})
        threads = _threads(answer)
        for node in threads.get("nodes", ()):
            first = node["comments"]["nodes"]
            if first and not node["isResolved"]:
                yield node["id"], str(first[0]["databaseId"])
        page = threads.get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        after = page["endCursor"]


def _threads(answer: Any) -> dict[str, Any]:
    value = answer.get("data") or {}
    for key in ("repository", "pullRequest", "reviewThreads"):
        value = value.get(key) or {}
    return dict(value)
