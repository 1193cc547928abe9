"""Hands a review to the place where people are to read it."""

from __future__ import annotations

import os
from collections.abc import Callable

from tclint.records import record
from tclint.review.annotations import annotate
from tclint.review.client import Client, ForbiddenError
from tclint.review.forge import Forge
from tclint.review.github import api as github_api
from tclint.review.github.post import post_review
from tclint.review.gitlab import api as gitlab_api
from tclint.review.gitlab.post import post_discussions
from tclint.review.plan import Review, Shown
from tclint.review.reconcile import Done
from tclint.review.secret import Secret
from tclint.review.target import Target

Compose = Callable[["Shown | None"], Review]


@record(frozen=True)
class Told:
    """What is left to print: ``output`` for programs, ``message`` for people."""

    output: str
    message: str


def publish(target: Target, token: Secret, head: str, compose: Compose) -> Told:
    """Post what ``compose`` writes, given the lines that the forge shows.

    Where the token may not write, as in the workflow of a fork, the review becomes annotations.

    Raises:
        ApiError: the forge did not do it.
    """
    client = _client(target, token)
    try:
        if target.forge is Forge.GITLAB:
            return _on_gitlab(client, target, head, compose)
        return _on_github(client, target, head, compose)
    except ForbiddenError as error:
        printed = annotate(compose(None), target.forge, os.environ)
        return Told(printed, f"{error}; annotations instead")
    finally:
        client.close()


def _client(target: Target, token: Secret) -> Client:
    headers = gitlab_api.headers if target.forge is Forge.GITLAB else github_api.headers
    return Client(target.api_url, lambda: headers(token.reveal()))


def _on_github(client: Client, target: Target, head: str, compose: Compose) -> Told:
    author = github_api.author_of(client)
    github = github_api.GitHub(client, target.repository, author)
    pull = github.pull(target.number)
    if not pull.is_open or pull.head != head:
        return _passed_over(pull.is_open, pull.head)
    review = compose(github.shown(target.number))
    return Told("", _said(post_review(github, target.number, review)))


def _on_gitlab(client: Client, target: Target, head: str, compose: Compose) -> Told:
    author = gitlab_api.author_of(client)
    gitlab = gitlab_api.GitLab(client, target.repository, target.number, author)
    request = gitlab.merge_request()
    if not request.is_open or request.head != head:
        return _passed_over(request.is_open, request.head)
    files = gitlab.files()
    review = compose({path: file.shown for path, file in files.items()})
    return Told("", _said(post_discussions(gitlab, request, files, review)))


def _passed_over(is_open: bool, head: str) -> Told:
    why = f"its head is now {head[:12]}" if is_open else "it is closed"
    return Told("", f"nothing posted: {why}")


def _said(done: Done) -> str:
    parts = (
        (done.new, "posted"),
        (done.edited, "updated"),
        (done.resolved, "resolved"),
        (done.removed, "removed as doubles"),
    )
    said = ", ".join(f"{number} {verb}" for number, verb in parts if number)
    return f"comments: {said or 'nothing new'}"
