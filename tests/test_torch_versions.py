"""Fixes and findings for each version of torch that a project is for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import NEWEST_TORCH, Config, Settings
from tclint.diagnostics import Confidence
from tclint.fix.apply import fix_files
from tclint.lint import examine
from tclint.lint.engine import check_files
from tclint.lint.pages import page_of
from tclint.lint.registry import load_rules
from tclint.lint.rewrite import AddArgument, Insert, Repair, Replace
from tclint.lint.rule import PRELUDE, Bad
from tclint.lint.versions import Written, names_written
from tclint.torch_facts.lifetimes import Lifetime, method_lifetime, since
from tclint.torch_facts.moved import AUTOCAST_NAMES, COMPILER_NAMES

if TYPE_CHECKING:
    from tclint.diagnostics import Decline, Diagnostic
    from tclint.semantics.site import Site

MODULE = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
PRINTS = MODULE + "        print(x.shape)\n        return x\n"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All code that rules give as examples of what they fix."""
    folder = tmp_path_factory.mktemp("examples")
    files = []
    for rule in load_rules():
        for number, example in enumerate(e for e in page_of(rule).examples if isinstance(e, Bad)):
            files.append(folder / f"{rule.code}_{number}.py".lower())
            files[-1].write_text(PRELUDE + example.code, encoding="utf-8")
    return files


def _config(folder: Path, **versions: Any) -> Config:
    settings = Settings(**versions)
    return Config(root=folder, compiled=("*:*",), weak=True, settings=settings)


def _all_written(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> set[Written]:
    """The names of torch's that fixes write into files."""
    found: set[Written] = set()

    def collect(fix: Repair | Decline | None, site: Site) -> Repair | Decline | None:
        for rewrite in fix.rewrites if isinstance(fix, Repair) else ():
            if isinstance(rewrite, (Replace, Insert, AddArgument)):
                found.update(names_written(fix, rewrite, site))
        return fix

    monkeypatch.setattr(examine, "for_oldest", collect)
    for file in files:
        check_files([file], _config(file.parent))
    return found


def test_of_every_name_that_a_fix_writes_it_is_known_since_when_torch_has_it(
    examples: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = _all_written(examples, monkeypatch)
    assert {"torch.compiler.is_compiling", "torch.where"} <= {w.name for w in written}
    unknown = sorted(str(w) for w in written if not w.is_method and w.first is None)
    assert unknown == []


LATER = [pytest.param(one, marks=pytest.mark.slow(0)) for one in [(1, 13), (2, 1), (2, 4)]]


@pytest.mark.parametrize("oldest", [(1, 8), *LATER])
def test_no_fix_writes_what_the_oldest_torch_lacks(
    examples: list[Path], tmp_path: Path, oldest: tuple[int, int]
) -> None:
    config = _config(tmp_path, min_torch=oldest)
    too_new = set()
    fixes = 0
    for file in examples:
        for fixed in fix_files([file], config, unsafe=True).changed:
            fixes += len(fixed.fixes)
            new = _names_in(fixed.after) - _names_in(fixed.before)
            too_new |= {name for name in new if (since(name) or NEWEST_TORCH) > oldest}
    assert too_new == set()
    assert fixes > 50


def _names_in(text: str) -> set[str]:
    """The dotted names of torch's in a file, found without what fixes are made with."""
    known = {"F": "torch.nn.functional", "nn": "torch.nn", "torch": "torch"}
    tree = ast.parse(text)
    inner = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node not in inner
        for name in _dotted(node, known)
    }


def _dotted(node: ast.expr, known: dict[str, str]) -> Iterator[str]:
    head, _, rest = ast.unparse(node).partition(".")
    if head in known and rest.replace(".", "").isidentifier():
        yield f"{known[head]}.{rest}"


def test_public_names_are_recommended_from_the_release_on_that_has_them() -> None:
    for moved in (*AUTOCAST_NAMES.values(), *COMPILER_NAMES.values()):
        first = since(moved.new)
        assert first is not None
        assert first <= moved.since


def test_the_table_knows_functions_methods_and_their_arguments() -> None:
    assert since("torch.where") == (1, 0)
    assert since("torch.compiler.is_compiling") == (2, 3)
    assert since("torch.nn.modules.linear.Linear") == (1, 0)
    assert since("torch.optim.SGD", "lr") == (1, 0)
    assert since("torch.optim.SGD", "fused") == (2, 3)
    assert since("torch.nn.functional.rms_norm", "eps") == (2, 4)
    assert since("torch.made_up") is None
    assert since("torch.nn.functional.made_up") is None
    assert since("torch._dynamo.config.recompile_limit.bit_length") == (2, 7)
    assert method_lifetime("logical_and") == Lifetime((1, 5))
    assert method_lifetime("register_buffer", "persistent") == Lifetime((1, 6))
    assert method_lifetime("append_to_nothing") is None


def _found(tmp_path: Path, code: str, rule: str, **versions: Any) -> Diagnostic:
    file = tmp_path / "net.py"
    file.write_text(code, encoding="utf-8")
    results = check_files([file], _config(tmp_path, **versions)).results
    (found,) = [r.diagnostic for r in results if r.diagnostic.code == rule]
    return found


def _fixed(tmp_path: Path, code: str, **versions: Any) -> str:
    file = tmp_path / "net.py"
    file.write_text(code, encoding="utf-8")
    (fixed,) = fix_files([file], _config(tmp_path, **versions), unsafe=True).changed
    return fixed.after


def test_a_fix_writes_no_private_name_where_the_public_one_is_too_young(tmp_path: Path) -> None:
    declined = _found(tmp_path, PRINTS, "TCL120", min_torch=(2, 1)).declined
    assert declined is not None
    assert declined.reason.startswith("`torch.compiler.is_compiling` needs torch 2.3; fixes")
    assert "if not torch.compiler.is_compiling():" in _fixed(tmp_path, PRINTS, min_torch=(2, 3))


def test_a_fix_that_the_oldest_torch_cannot_run_is_declined_with_the_name(tmp_path: Path) -> None:
    declined = _found(tmp_path, PRINTS, "TCL120", min_torch=(1, 13)).declined
    assert declined is not None
    assert declined.reason == (
        "`torch.compiler.is_compiling` needs torch 2.3; fixes are for torch 1.13 too (`min-torch`)"
    )
    declined = _found(tmp_path, PRINTS, "TCL120", target_torch=(2, 0)).declined
    assert declined is not None
    assert declined.reason.endswith("this project runs on torch 2.0 (`target-torch`)")


def test_an_argument_that_is_younger_than_its_function_is_declined(examples: list[Path]) -> None:
    (file,) = [file for file in examples if file.stem == "tcl512_0"]
    for oldest, fixable in (((2, 2), False), ((2, 3), True)):
        results = check_files([file], _config(file.parent, min_torch=oldest)).results
        (found,) = [r.diagnostic for r in results if r.diagnostic.code == "TCL512"]
        reason = found.declined.reason if found.declined else ""
        assert (found.fixable is not None) == fixable
        assert reason.startswith("`torch.optim.SGD(fused=...)` needs torch 2.3") != fixable


def test_a_call_that_is_there_needs_no_newer_torch_for_its_old_arguments(
    examples: list[Path],
) -> None:
    (file,) = [file for file in examples if file.stem == "tcl230_0"]
    results = check_files([file], _config(file.parent, min_torch=(1, 8))).results
    (found,) = [r.diagnostic for r in results if r.diagnostic.code == "TCL230"]
    assert found.fixable is not None


def _results(tmp_path: Path, code: str, **versions: Any) -> tuple[Any, ...]:
    file = tmp_path / "net.py"
    file.write_text(code, encoding="utf-8")
    return tuple(check_files([file], _config(tmp_path, **versions)).results)


def test_a_finding_that_holds_on_older_versions_only_says_so(tmp_path: Path) -> None:
    code = "import random\nimport torch\n\n\ndef f(x):\n    return x * random.random()\n"
    found = _found(tmp_path, code, "TCL180", target_torch=(2, 16), min_torch=(2, 13))
    assert found.message.endswith("(torch < 2.14)")
    assert found.confidence is Confidence.LOW
    older = _found(tmp_path, code, "TCL180", target_torch=(2, 13))
    assert not older.message.endswith(")")
    assert _results(tmp_path, code) == ()


def test_a_graph_break_has_the_id_that_the_target_gives_it(tmp_path: Path) -> None:
    code = "import time\nimport torch\n\n\ndef f(x):\n    return x * time.time()\n"
    assert _found(tmp_path, code, "TCL180").gb_ids == ("GB9193",)
    assert _found(tmp_path, code, "TCL180", target_torch=(2, 14)).gb_ids == ("GB0007",)
    copied = code.replace("time.time()", "copy.deepcopy(2)").replace("time", "copy")
    assert _found(tmp_path, copied, "TCL180", target_torch=(2, 11)).gb_ids == ("GB0179",)


def test_an_id_that_no_release_of_the_project_has_is_not_printed(tmp_path: Path) -> None:
    code = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x, repr(x)\n"
    assert _found(tmp_path, code, "TCL104", target_torch=(2, 13)).gb_ids == ("GB0569",)
    assert _found(tmp_path, code, "TCL104", target_torch=(2, 12)).gb_ids == ()


def test_a_finding_that_holds_on_newer_versions_only_says_so(tmp_path: Path) -> None:
    code = (
        "import torch\n\nmodel = torch.compile(torch.nn.Linear(2, 2))\n"
        "optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)\n"
    )
    found = _found(tmp_path, code, "TCL507", min_torch=(1, 13))
    assert found.message.endswith("(torch >= 2.0)")
    assert not _found(tmp_path, code, "TCL507", min_torch=(2, 0)).message.endswith(")")


def test_what_is_not_known_is_not_taken_for_there() -> None:
    assert not Written("torch.made_up").is_in((2, 1))
    assert not Written("torch.nn.functional.rms_norm").is_in((2, 3))
    assert Written("torch.nn.functional.rms_norm").is_in((2, 4))
    assert Written("popleft", is_method=True).is_in((1, 0))
    assert not Written("compile", is_method=True).is_in((2, 0))


def test_a_setting_that_only_the_oldest_torch_lacks_says_on_which(tmp_path: Path) -> None:
    code = "import torch\n\ntorch._dynamo.config.recompile_limit = 4\n"
    found = _found(tmp_path, code, "TCL424", min_torch=(2, 6))
    assert found.message.endswith("(torch < 2.7)")
    assert found.confidence is Confidence.LOW
    assert _results(tmp_path, code, min_torch=(2, 7)) == ()
    older = _found(tmp_path, code, "TCL424", target_torch=(2, 6))
    assert "2.6: this raises" in older.message


NEW_NAMES = {
    "torch.compile(f, isolate_recompiles=True)": ("TCL406", (2, 13), None),
    "torch.compile(f, shapes_spec=None)": ("TCL406", (2, 13), (2, 14)),
    "torch.compile(f, dynamic_shapes=None)": ("TCL406", (2, 14), None),
    "torch.compile(f, name='f', recompile_limit=3)": ("TCL406", (2, 12), None),
    "torch.compile(f, options={'numerics': 'strict'})": ("TCL404", (2, 14), None),
}
"""Calls, who tells of a missing name, the first release that has it, and the first without it."""


@pytest.mark.parametrize("release", [(2, 11), (2, 12), (2, 13), (2, 14), (2, 15)])
@pytest.mark.parametrize("call", NEW_NAMES)
def test_a_name_is_told_where_the_release_lacks_it(
    call: str, release: tuple[int, int], tmp_path: Path
) -> None:
    code, first, end = NEW_NAMES[call]
    path = tmp_path / "program.py"
    path.write_text(f"import torch\n\n\ndef f(x):\n    return x\n\n\ng = {call}\n", "utf-8")
    found = {
        one.diagnostic.code
        for one in check_files([path], _config(tmp_path, target_torch=release)).results
    }
    lacks = release < first or (end is not None and release >= end)
    assert found == ({code} if lacks else set())


def test_the_newest_names_have_their_release() -> None:
    assert since("torch.compiler.set_default_backend") == (2, 13)
    assert since("torch.compile(isolate_recompiles)") == (2, 13)
    assert since("torch._inductor.config.numerics") == (2, 14)
    assert since("torch.compiler.nonstrict_trace") == (2, 14)
    assert since("torch.compiler.precompile") == (2, 14)
