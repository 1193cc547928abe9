"""Checking files: what is read, judged, silenced, and in which order it comes back."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Confidence, Effect
from tclint.lint.engine import Run, check_files
from tclint.semantics.body import Body
from tests.semantics_probe import put

READ = "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.item(){comment}\n"
TWO = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        print(x)
        return x * x.item()
"""


def check(folder: Path, files: dict[str, str], **config: object) -> Run:
    return check_files(put(folder, files), Config(folder, **config))  # type: ignore[arg-type]


def codes(run: Run) -> list[str]:
    return [result.diagnostic.code for result in run.results]


def test_a_finding_has_a_place_a_chain_and_a_confidence(tmp_path: Path) -> None:
    [result] = check(tmp_path, {"a.py": READ.format(comment="")}).results
    found = result.diagnostic
    assert (found.code, found.effect, found.gb_ids) == ("TCL101", Effect.GRAPH_BREAK, ("GB0124",))
    assert (found.span.start.row, found.span.start.column) == (4, 12)
    assert [(link.function, link.row) for link in found.chain] == [("f", 4)]
    assert found.confidence is Confidence.HIGH
    assert result.file.excerpt(found.span) == "x.item()"


def test_columns_count_characters(tmp_path: Path) -> None:
    text = 'import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return "äöü€", x.item()\n'
    [result] = check(tmp_path, {"a.py": text}).results
    assert result.diagnostic.span.start.column == 20


def test_results_come_by_file_then_place(tmp_path: Path) -> None:
    run = check(tmp_path, {"b.py": TWO, "a.py": TWO})
    places = [(r.diagnostic.path.name, r.diagnostic.span.start.row) for r in run.results]
    assert places == [("a.py", 6), ("a.py", 7), ("b.py", 6), ("b.py", 7)]
    assert run.files == 2


def test_an_unreadable_file_stops_nothing_else(tmp_path: Path) -> None:
    paths = put(tmp_path, {"a.py": TWO})
    (tmp_path / "b.py").write_bytes(b"x = '\xff'\n")
    run = check_files([*paths, tmp_path / "b.py", tmp_path / "gone.py"], Config(tmp_path))
    assert {error.path.name for error in run.errors} == {"b.py", "gone.py"}
    assert codes(run) == ["TCL120", "TCL101"]


def test_a_syntax_error_is_an_error_and_a_finding(tmp_path: Path) -> None:
    run = check(tmp_path, {"a.py": "def f(:\n", "b.py": TWO})
    assert codes(run) == ["TCL001", "TCL120", "TCL101"]
    assert [error.path.name for error in run.errors] == ["a.py"]
    assert run.results[0].diagnostic.effect is Effect.INVALID


def test_a_syntax_error_can_be_ignored_but_stays_an_error(tmp_path: Path) -> None:
    run = check(tmp_path, {"a.py": "def f(:\n"}, ignore=("TCL0",))
    assert codes(run) == []
    assert len(run.errors) == 1


def test_an_overlay_stands_for_what_is_on_disk(tmp_path: Path) -> None:
    [path] = put(tmp_path, {"a.py": TWO})
    unsaved = tmp_path / "never_saved.py"
    overlay = {path: "x = 1\n", unsaved: READ.format(comment="")}
    assert codes(check_files([path], Config(tmp_path), overlay)) == []
    assert codes(check_files([unsaved], Config(tmp_path), overlay)) == ["TCL101"]


def test_an_overlay_helps_other_files_but_is_not_checked_itself(tmp_path: Path) -> None:
    main = "import torch\nfrom helper import g\n@torch.compile\ndef f(x):\n    return g(x).item()\n"
    [path] = put(tmp_path, {"main.py": main})
    helper = tmp_path / "helper.py"
    overlay = {helper: "def g(x):\n    x.tolist()\n    return x\n"}
    assert codes(check_files([path], Config(tmp_path), overlay)) == ["TCL101"]
    assert codes(check_files([path, helper], Config(tmp_path), overlay)) == ["TCL103", "TCL101"]


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("  # tclint: ignore", True),
        ("  # tclint: ignore[TCL101]", True),
        ("  # tclint: ignore[TCL103]", False),
        ("  # noqa", True),
        ("  # noqa: TCL101", True),
        ("  # noqa: E501", False),
        ("  # an ordinary comment", False),
    ],
)
def test_comments_silence_findings(tmp_path: Path, comment: str, silent: bool) -> None:
    found = codes(check(tmp_path, {"a.py": READ.format(comment=comment)}))
    assert ("TCL101" not in found) is silent


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_comment_speaks_for_its_whole_statement(tmp_path: Path, place: str) -> None:
    first, last = ("  # noqa: TCL101", "") if place == "first" else ("", "  # noqa: TCL101")
    text = (
        "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n"
        f"    return dict({first}\n        a=1,\n        b=x.item(),\n    ){last}\n"
    )
    assert codes(check(tmp_path, {"a.py": text})) == []


def test_a_comment_can_silence_a_file(tmp_path: Path) -> None:
    text = f"# tclint: ignore-file[TCL120]\n{TWO}"
    assert codes(check(tmp_path, {"a.py": text, "b.py": TWO})) == ["TCL101", "TCL120", "TCL101"]


def test_a_finding_in_a_helper_is_silenced_where_it_is_not_where_it_is_called(
    tmp_path: Path,
) -> None:
    text = (
        "import torch\ndef g(x):\n    return x.item()\n"
        "@torch.compile\ndef f(x: torch.Tensor):\n    return g(x)  # noqa: TCL101\n"
    )
    assert "TCL101" in codes(check(tmp_path, {"a.py": text}))


def test_garbage_collection_is_left_as_it_was(tmp_path: Path) -> None:
    assert gc.isenabled()
    check(tmp_path, {"a.py": TWO})
    assert gc.isenabled()
    gc.disable()
    try:
        check(tmp_path, {"a.py": TWO})
        assert not gc.isenabled()
    finally:
        gc.enable()


CONFIDENCE = {
    "an annotated tensor": ("x: torch.Tensor", "x.item()", Confidence.HIGH),
    "what torch returns": ("n: int", "torch.ones(n).item()", Confidence.HIGH),
    "a parameter taken for a tensor": ("x", "x.item()", Confidence.MEDIUM),
    "what comes of one": ("x", "(x * 2).sum().item()", Confidence.MEDIUM),
    "a branch on one": ("x", "1 if x.sum() > 0 else 2", Confidence.MEDIUM),
    "one of two that is sure": ("x, y: torch.Tensor", "(x + y).item()", Confidence.HIGH),
    "below a flag that is off": (
        "x: torch.Tensor, debug=False", "x.item() if debug else x", Confidence.HIGH,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "expression", "confidence"), CONFIDENCE.values(), ids=CONFIDENCE.keys()
)
def test_confidence(
    tmp_path: Path, parameters: str, expression: str, confidence: Confidence
) -> None:
    text = f"import torch\n@torch.compile\ndef f({parameters}):\n    return {expression}\n"
    [result] = check(tmp_path, {"a.py": text}).results
    assert result.diagnostic.confidence is confidence


def test_statements_below_a_flag_that_is_off_are_of_low_confidence(tmp_path: Path) -> None:
    text = (
        "import torch\n@torch.compile\ndef f(x: torch.Tensor, debug=False):\n"
        "    if debug:\n        x.item()\n"
    )
    [result] = check(tmp_path, {"a.py": text}, weak=True).results
    assert result.diagnostic.confidence is Confidence.LOW


def test_findings_that_are_not_sure_enough_are_counted_but_not_shown(tmp_path: Path) -> None:
    head = "import torch\n@torch.compile\ndef f(x: torch.Tensor):\n"
    text = head + "    for row in x:\n        row + 1\n"
    run = check(tmp_path, {"a.py": text})
    assert (codes(run), run.hidden) == ([], 1)
    assert codes(check(tmp_path, {"a.py": text}, select=("TCL210",))) == ["TCL210"]


@pytest.mark.parametrize(
    "test", ["x.any()", "not x.any()", "x.any() or x.all()", "0 < x.sum() < 1"]
)
def test_asserts_are_as_sure_as_their_tensors(tmp_path: Path, test: str) -> None:
    for annotation, confidence in (("", Confidence.MEDIUM), (": torch.Tensor", Confidence.HIGH)):
        text = f"import torch\n@torch.compile\ndef f(x{annotation}):\n    assert {test}\n"
        found = {r.diagnostic.confidence for r in check(tmp_path, {"a.py": text}).results}
        assert found == {confidence}


LAYER = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(4, 4)

    def forward(self, x, state=None):
        self.rnn.flatten_parameters()
        if state is None:
            y, state = self.rnn(x)
        else:
            y, state = self.rnn(x, (state["h"], state["c"]))
        return y
"""


def test_what_two_calls_are_told_for_at_one_place_is_told_once(tmp_path: Path) -> None:
    assert codes(check(tmp_path, {"a.py": LAYER})) == ["TCL186"]


def test_bodies_that_call_each_other_are_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\n\n\n"
        "def one(x):\n    return other(x) if x.ndim else x.item()\n\n\n"
        "def other(x):\n    return one(x[0])\n\n\n"
        "torch.compile(one)(torch.ones(2))\n"
    )
    left = []
    gc.disable()  # as in a run
    try:
        for _ in range(3):
            assert check_files([path], Config(root=tmp_path)).results
            left.append(sum(type(one) is Body for one in gc.get_objects()))
    finally:
        gc.enable()
    assert left[2] == left[1]
