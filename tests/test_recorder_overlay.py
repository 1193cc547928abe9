"""Files whose text is replaced while they are loaded, and places that end a step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.recorded_runs import record, run

PART = """
def part():
    return 'as it is'
"""
MAIN = """
import sys, os
import part

class Thing: pass

def work():
    print("work", part.part(), flush=True)

if __name__ == "__main__":
    import multiprocessing, pickle
    print("as it is", part.part(), sys.argv, __file__, __name__, sys.path[0], sorted(globals()))
    print(pickle.loads(pickle.dumps(Thing())).__class__, sys.orig_argv[1:], __loader__.name)
    print(sorted(name for name in os.environ if name.startswith("TCLINT_RECORD_M")))
    for way in ("fork", "spawn"):
        worker = multiprocessing.get_context(way).Process(target=work)
        worker.start()
        worker.join()
"""


def overlaid(folder: Path, *names: str) -> str:
    texts = {}
    for name in names:
        text = (folder / name).read_text("utf-8")
        texts[str(folder / name)] = text.replace("as it is", "as it should be")
    (folder / "overlay.json").write_text(json.dumps(texts), encoding="utf-8")
    return str(folder / "overlay.json")


@pytest.mark.parametrize("start", [["main.py", "a"], ["-B", "-u", "main.py", "a"], ["-m", "main"]])
def test_a_text_replaces_a_file_s_and_nothing_else_changes(
    start: list[str], tmp_path: Path
) -> None:
    (tmp_path / "part.py").write_text(PART, encoding="utf-8")
    plain = run(tmp_path, MAIN, start=start)
    for names in (["part.py"], ["main.py"], ["main.py", "part.py"]):
        file = overlaid(tmp_path, *names)
        ran = record(tmp_path, MAIN, start=start, TCLINT_RECORD_OVERLAY=file)
        expected = plain.out
        if "part.py" in names:
            expected = expected.replace("work as it is", "work as it should be")
            expected = expected.replace("as it is as it is", "as it is as it should be")
        if "main.py" in names:
            expected = "as it should be" + expected.removeprefix("as it is")
        assert ran.seen == (0, expected, "")
        (tmp_path / "overlay.json").unlink()
    assert run(tmp_path, MAIN, start=start).seen == plain.seen


def test_tracebacks_and_inspect_show_the_text_that_runs(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("\n\ndef part(): return 1 / 0  # as it is\n", "utf-8")
    program = "import inspect, part\nprint(inspect.getsource(part.part))\n"
    program += "import traceback\ntry: part.part()\nexcept ZeroDivisionError: traceback.print_exc()"
    main = tmp_path / "main.py"
    main.write_text(program, "utf-8")
    ran = record(tmp_path, program, TCLINT_RECORD_OVERLAY=overlaid(tmp_path, "part.py"))
    assert "as it should be" in ran.out
    assert "as it should be" in ran.err


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": 1}', "\xff"])
def test_an_overlay_that_cannot_be_read_leaves_a_note(text: str, tmp_path: Path) -> None:
    (tmp_path / "overlay.json").write_bytes(text.encode("latin-1"))
    ran = record(tmp_path, "print(1)", TCLINT_RECORD_OVERLAY=str(tmp_path / "overlay.json"))
    assert ran.seen == (0, "1\n", "")
    assert ran.kinds()[-1:] == ["end"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("marker", "start"),
    [
        ("main.py:9", ["main.py"]),
        ("main.py:9", ["-m", "main"]),
        ("part.py:4", ["main.py"]),
        ("part:Part.part", ["main.py"]),
        ("main.py:999", ["main.py"]),
        ("nowhere:part", ["main.py"]),
    ],
)
def test_a_step_ends_where_the_user_says(marker: str, start: list[str], tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(
        "class Part:\n    def part(self):\n        'its words'\n        return 1\n", "utf-8"
    )
    program = """
        import torch
        from part import Part
        from torch import nn

        model = nn.Linear(2, 2)
        for i in range(15):
            with torch.no_grad():
                model(torch.ones(2, 2))
            Part().part()
        print("done")
    """
    ran = record(tmp_path, program, start=start, TCLINT_RECORD_MARKER=marker)
    assert ran.seen == (0, "done\n", "")
    if marker in {"main.py:999", "nowhere:part"}:
        assert [note["what"] for note in ran.lines("note")] == ["step marker"]
        assert ran.lines("steps") == []
        return
    assert ran.lines("note") == []
    steps = ran.lines("steps")[-1]
    assert (steps["marker"], len(steps["ends"])) == ("marker", 15)
    file, _, row = marker.rpartition(":")
    assert Path(steps["place"]["filename"]).name == (file if row.isdecimal() else "part.py")
