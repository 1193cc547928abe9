"""The generated pages."""

from __future__ import annotations

from pathlib import Path

import pytest  # noqa: TC002

from scripts import docs
from tclint.lint.registry import known_rules


def test_pages_are_written_once_and_then_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs, "RULE_PAGES", tmp_path / "docs" / "rules")
    wanted = docs.pages()
    assert set(docs.stale(wanted)) == set(wanted)
    gone = tmp_path / "docs" / "rules" / "ABC999.md"
    gone.parent.mkdir(parents=True)
    gone.write_text("", encoding="utf-8")
    docs.write(wanted)
    assert docs.stale(wanted) == []
    assert not gone.exists()


def test_every_rule_has_a_page_and_a_row() -> None:
    pages = {path.name: text for path, text in docs.pages().items()}
    for rule in known_rules():
        assert pages[f"{rule.code}.md"].startswith(f"# {rule.name} ({rule.code})\n")
        assert f"| [{rule.code}](rules/{rule.code}.md) | `{rule.name}` |" in pages["rules.md"]


def test_the_command_page_spells_options_as_typer_does() -> None:
    text = docs.commands_page()
    assert "| `--quiet`, `-q` | Print findings only, no summary. |" in text
    assert "| `--output-file` `FILE` | Write the report to a file. |" in text
    assert "| `--config` `FILE\\|KEY=VALUE` |" in text
    assert "--no-diff" not in text
