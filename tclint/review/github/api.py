"""GitHub's endpoints, as far as the review needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tclint.git.diff import Added, shown_lines
from tclint.records import record
from tclint.review import marks
from tclint.review.client import Client, ForbiddenError
from tclint.review.reconcile import Posted

_FULL_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}")


@record(frozen=True)
class Pull:
    """A pull request as it is now."""

    head: str
    is_open: bool


@record(frozen=True)
class Summary:
    """A review of ours that holds the summary."""

    name: int
    body: str
    url: str


def valid_full_name(name: str) -> bool:
    """Whether a text is ``owner/name`` and nothing that could change an address."""
    return bool(_FULL_NAME.fullmatch(name)) and not name.endswith(("/.", "/.."))


def headers(token: str) -> dict[str, str]:
    """What every request says."""
    return {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "tclint",
    }


class GitHub:
    """One repository on GitHub.

    ``author`` is the login under which our token writes. Without one, what any app writes is taken
    for ours: only those that the repository's owners have installed can write there.
    """

    def __init__(self, client: Client, full_name: str, author: str) -> None:
        if not valid_full_name(full_name):
            raise ValueError(f"{full_name!r} is not OWNER/NAME")
        self.client = client
        self.author = author
        self._repository = f"/repos/{full_name}"
        self._full_name = full_name

    def pull(self, number: int) -> Pull:
        """A pull request."""
        answer = self.client.get(self._pull(number))
        return Pull(answer["head"]["sha"], answer["state"] == "open")

    def shown(self, number: int) -> dict[str, tuple[Added, ...]]:
        """The lines on which GitHub takes comments; it shows none of large and binary files."""
        files = self.client.pages(f"{self._pull(number)}/files", most=30)
        return {file["filename"]: shown_lines(file["patch"]) for file in files if "patch" in file}

    def posted(self, number: int) -> Iterator[Posted]:
        """Our live comments, oldest first; what others write is no mark of ours."""
        for comment in self.client.pages(f"{self._pull(number)}/comments", sort="created"):
            fingerprint = marks.fingerprint_in(comment["body"])
            if fingerprint is not None and self._is_ours(comment):
                last = comment.get("original_line") or comment.get("line") or 1
                start = comment.get("original_start_line") or comment.get("start_line")
                lines = last - (start or last) + 1
                yield Posted(str(comment["id"]), fingerprint, comment["body"], lines)

    def summary(self, number: int) -> Summary | None:
        """Our newest summary."""
        found = None
        for review in self.client.pages(f"{self._pull(number)}/reviews"):
            if self._is_ours(review) and marks.is_summary(review["body"]):
                found = Summary(review["id"], review["body"], review["html_url"])
        return found

    def create_review(self, number: int, payload: Mapping[str, Any]) -> None:
        """Post a review; never repeated here, since nothing tells whether it was done."""
        self.client.request("POST", f"{self._pull(number)}/reviews", payload)

    def edit_review(self, number: int, review: int, body: str) -> None:
        """Change a summary."""
        self.client.request("PUT", f"{self._pull(number)}/reviews/{review}", {"body": body})

    def edit_comment(self, comment: str, body: str) -> None:
        """Change a comment."""
        self.client.request("PATCH", f"{self._repository}/pulls/comments/{comment}", {"body": body})

    def delete_comment(self, comment: str) -> None:
        """Remove a comment."""
        self.client.request("DELETE", f"{self._repository}/pulls/comments/{comment}")

    def query(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask GraphQL, which knows threads; ``owner`` and ``name`` are given to every query."""
        owner, _, name = self._full_name.partition("/")
        body = {"query": query, "variables": {"owner": owner, "name": name, **variables}}
        address = graphql_url(self.client.base_url)
        answer = self.client.request("POST", address, body, repeatable=True)
        return answer if isinstance(answer, dict) else {}

    def _is_ours(self, item: Mapping[str, Any]) -> bool:
        user = item.get("user") or {}
        return bool(user.get("login") == self.author if self.author else user.get("type") == "Bot")

    def _pull(self, number: int) -> str:
        return f"{self._repository}/pulls/{number}"


def graphql_url(api_url: str) -> str:
    """Where GraphQL lives beside the REST interface: Enterprise has it at ``/api/graphql``."""
    base = api_url.rstrip("/")
    return f"{base.removesuffix('/v3')}/graphql"


def author_of(client: Client) -> str:
    """The login of a token's owner; empty where the token is an app's, which may not ask."""
    try:
        return str(client.get("/user")["login"])
    except ForbiddenError:
        return ""
