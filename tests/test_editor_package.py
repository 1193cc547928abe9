"""What the VS Code extension is packed from is there, and fits together."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def extension(repository: Path) -> Path:
    return repository / "editors" / "vscode"


@pytest.fixture
def manifest(extension: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((extension / "package.json").read_text(encoding="utf-8"))
    return found


def test_every_step_of_the_walkthrough_has_its_page(
    extension: Path, manifest: dict[str, Any]
) -> None:
    (walkthrough,) = manifest["contributes"]["walkthroughs"]
    pages = [step["media"]["markdown"] for step in walkthrough["steps"]]
    assert sorted(pages) == sorted(
        path.relative_to(extension).as_posix() for path in extension.glob("walkthrough/*.md")
    )
    commands = {one["command"] for one in manifest["contributes"]["commands"]}
    assert all(
        "command:tclint." not in step["description"]
        or any(f"command:{command})" in step["description"] for command in commands)
        for step in walkthrough["steps"]
    )


def test_the_icon_is_large_enough(extension: Path, manifest: dict[str, Any]) -> None:
    data = (extension / manifest["icon"]).read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    assert min(struct.unpack(">II", data[16:24])) >= 128


def test_what_is_packed_holds_the_program_and_no_sources(
    extension: Path, manifest: dict[str, Any]
) -> None:
    first, *kept = (extension / ".vscodeignore").read_text(encoding="utf-8").split()
    assert first == "**"
    assert f"!{manifest['main'].removeprefix('./')}" in kept
    assert {"!images/**", "!walkthrough/**", "!README.md", "!LICENSE"} <= {*kept}


def test_every_setting_is_described(extension: Path, manifest: dict[str, Any]) -> None:
    told = (extension / "README.md").read_text(encoding="utf-8")
    settings = manifest["contributes"]["configuration"]["properties"]
    assert all(f"| `{name}` |" in told for name in settings)
