"""What the tests of fixes compare is the program that was given."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch", reason="programs run beside torch")

from tests.before_and_after import outcome


def test_a_module_that_another_test_left_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "program", ModuleType("program"))
    text = "def main():\n    return 1\n"
    assert outcome(tmp_path, {"program.py": text}) == "int:1\n\n[]"
    assert outcome(tmp_path, {"program.py": text.replace("1", "22")}) == "int:22\n\n[]"
