"""Cut GitHub's OpenAPI description down to what tclint calls.

``python -m tests.review.slice_openapi api.github.com.json > tests/review/github_openapi.json``,
with the description that the npm package ``@octokit/openapi`` holds (MIT licence).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_REPO: Final = "/repos/{owner}/{repo}"
USED: Final = {
    "/user": ("get",),
    f"{_REPO}/pulls/{{pull_number}}": ("get",),
    f"{_REPO}/pulls/{{pull_number}}/comments": ("get",),
    f"{_REPO}/pulls/{{pull_number}}/files": ("get",),
    f"{_REPO}/pulls/{{pull_number}}/reviews": ("get", "post"),
    f"{_REPO}/pulls/{{pull_number}}/reviews/{{review_id}}": ("put",),
    f"{_REPO}/pulls/comments/{{comment_id}}": ("patch", "delete"),
}
_WORDS: Final = ("description", "summary", "examples", "example", "externalDocs", "tags", "title")


def cut(whole: dict[str, Any]) -> dict[str, Any]:
    """The used operations with everything that they refer to, without words for people."""
    paths = {
        path: {
            key: _bare(value)
            for key, value in whole["paths"][path].items()
            if key in (*methods, "parameters")
        }
        for path, methods in USED.items()
    }
    components: dict[str, dict[str, Any]] = {}
    todo = [*_references(paths)]
    while todo:
        _, _, kind, name = todo.pop().split("/")
        if name not in components.setdefault(kind, {}):
            part = _bare(whole["components"][kind][name])
            components[kind][name] = part
            todo += _references(part)
    return {
        "openapi": whole["openapi"],
        "info": {"title": "GitHub v3 REST API", "version": whole["info"]["version"]},
        "servers": whole["servers"],
        "paths": paths,
        "components": {kind: dict(sorted(parts.items())) for kind, parts in components.items()},
    }


def _bare(value: Any, *, names: bool = False) -> Any:
    """Drop what only people read; below ``properties`` the keys are names, not words."""
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _bare(item, names=key in {"properties", "schemas"} and not names)
        for key, item in value.items()
        if names or (key not in _WORDS and not key.startswith("x-"))
    }


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


if __name__ == "__main__":
    json.dump(cut(json.loads(Path(sys.argv[1]).read_text("utf-8"))), sys.stdout, indent=1)
    sys.stdout.write("\n")
