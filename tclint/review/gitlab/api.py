"""GitLab's endpoints, as far as the review needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from tclint.git.diff import Added, shown_lines
from tclint.records import record
from tclint.review import marks
from tclint.review.client import Client
from tclint.review.reconcile import Posted


@record(frozen=True)
class MergeRequest:
    """A merge request as it is now.

    ``base`` is where its branch left the target, ``start`` the target's commit that GitLab
    compares with.
    """

    base: str
    start: str
    head: str
    is_open: bool
    draft: bool


@record(frozen=True)
class File:
    """A changed file: its path before, and the lines of it that GitLab shows."""

    old_path: str
    shown: tuple[Added, ...]


@record(frozen=True)
class Summary:
    """A note of ours that holds the summary."""

    name: int
    body: str


_SEPARATOR: Final = "/"


def headers(token: str) -> dict[str, str]:
    """What every request says."""
    return {"PRIVATE-TOKEN": token, "User-Agent": "tclint"}


class GitLab:
    """One merge request on GitLab; ``author`` is the user under whom our token writes."""

    def __init__(self, client: Client, project: str, number: int, author: str) -> None:
        self.client = client
        self.author = author
        self._request = f"/projects/{quote(project, safe='')}/merge_requests/{number}"

    def merge_request(self) -> MergeRequest:
        """The merge request."""
        answer = self.client.get(self._request)
        refs = answer["diff_refs"]
        return MergeRequest(
            refs["base_sha"], refs["start_sha"], refs["head_sha"], answer["state"] == "opened",
            bool(answer.get("draft")),
        )  # fmt: skip

    def files(self) -> dict[str, File]:
        """The changed files; GitLab shows no lines of large ones."""
        changes = self.client.pages(f"{self._request}/diffs", most=30)
        return {
            change["new_path"]: File(change["old_path"], shown_lines(change.get("diff") or ""))
            for change in changes
            if not change["deleted_file"]
        }

    def posted(self) -> Iterator[Posted]:
        """Our open comments, oldest first, named ``discussion/note``."""
        for discussion in self.client.pages(f"{self._request}/discussions"):
            note = discussion["notes"][0]
            fingerprint = marks.fingerprint_in(note["body"])
            if fingerprint is not None and self._is_ours(note):
                name = f"{discussion['id']}{_SEPARATOR}{note['id']}"
                yield Posted(name, fingerprint, note["body"], None)

    def summary(self) -> Summary | None:
        """Our newest summary."""
        found = None
        for note in self.client.pages(f"{self._request}/notes", sort="asc", order_by="created_at"):
            if self._is_ours(note) and marks.is_summary(note["body"]):
                found = Summary(note["id"], note["body"])
        return found

    def create_discussion(self, body: str, position: Mapping[str, Any]) -> None:
        """Comment on a line."""
        payload = {"body": body, "position": dict(position)}
        self.client.request("POST", f"{self._request}/discussions", payload)

    def create_note(self, body: str) -> None:
        """Say something on the whole."""
        self.client.request("POST", f"{self._request}/notes", {"body": body})

    def edit_note(self, note: int, body: str) -> None:
        """Change what was said on the whole."""
        self.client.request("PUT", f"{self._request}/notes/{note}", {"body": body})

    def edit_comment(self, name: str, body: str) -> None:
        """Change a comment."""
        discussion, _, note = name.partition(_SEPARATOR)
        path = f"{self._request}/discussions/{discussion}/notes/{note}"
        self.client.request("PUT", path, {"body": body})

    def resolve(self, name: str) -> None:
        """Mark the discussion of a comment as resolved."""
        discussion = name.partition(_SEPARATOR)[0]
        path = f"{self._request}/discussions/{discussion}"
        self.client.request("PUT", path, {"resolved": True})

    def delete_comment(self, name: str) -> None:
        """Remove a comment."""
        discussion, _, note = name.partition(_SEPARATOR)
        self.client.request("DELETE", f"{self._request}/discussions/{discussion}/notes/{note}")

    def _is_ours(self, note: Mapping[str, Any]) -> bool:
        return (note.get("author") or {}).get("username") == self.author


def author_of(client: Client) -> str:
    """The name of the token's user."""
    return str(client.get("/user")["username"])
