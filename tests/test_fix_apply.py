"""Fixes are applied until nothing is left, and never at the cost of the file."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config
from tclint.diagnostics import Change, Confidence, Diagnostic, Effect
from tclint.fix.apply import fix_files
from tclint.fix.results import FixRun
from tclint.lint.repair import PlacedRepair, placed
from tclint.lint.rewrite import Import, Insert, Repair, Replace
from tclint.source.errors import FileError
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Rule = Callable[[ast.AST], "tuple[str, Repair | None] | None"]

PATH = Path("m.py")


@dataclass(frozen=True)
class Result:
    diagnostic: Diagnostic
    repair: PlacedRepair | None
    file: SourceFile
    unsafe: PlacedRepair | None = None


@dataclass(frozen=True)
class Run:
    results: tuple[Result, ...]
    errors: tuple[FileError, ...] = ()
    files: int = 1


def checker(rule: Rule) -> Callable[..., Run]:
    """An engine with one rule, asked about every node."""

    def check(
        paths: Sequence[Path], config: Config, overlay: Mapping[Path, str] | None = None
    ) -> Run:
        assert isinstance(config, Config)
        texts = overlay or {}
        return Run(
            tuple(
                _result(SourceFile.from_text(path, texts[path]), node, *found)
                for path in paths
                for node in ast.walk(ast.parse(texts[path]))
                for found in [rule(node)]
                if found is not None
            )
        )

    return check


def _result(file: SourceFile, node: ast.AST, code: str, repair: Repair | None) -> Result:
    assert isinstance(node, (ast.expr, ast.stmt))
    diagnostic = Diagnostic(
        code,
        "name",
        "message",
        Effect.GRAPH_BREAK,
        Confidence.HIGH,
        file.path,
        file.span(node),
        fixable=repair.applicability if repair else None,
        fix_message=repair.message if repair else None,
    )
    return Result(diagnostic, placed(repair) if repair else None, file)


def _fix(text: str, rule: Rule, *, unsafe: bool = False, **config: tuple[str, ...]) -> FixRun:
    return fix_files(
        [PATH],
        Config(Path(), **config),
        unsafe=unsafe,
        overlay={PATH: text},
        check=checker(rule),
    )


def _after(run: FixRun) -> str:
    (changed,) = run.changed
    return changed.after


def rename(old: str, new: str, code: str = "TCL900") -> Rule:
    """A rule that renames a function that is called, keeping the argument."""

    def rule(node: ast.AST) -> tuple[str, Repair] | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        if node.func.id != old:
            return None
        rewrite = Replace(node, f"{new}($a)", {"a": node.args[0]})
        return code, Repair("Rename", (rewrite,))

    return rule


def test_all_findings_are_fixed() -> None:
    run = _fix("a = f(1)\nb = f(2)\nc = g(3)\n", rename("f", "h"))
    assert _after(run) == "a = h(1)\nb = h(2)\nc = g(3)\n"
    assert run.changed[0].applied == ("TCL900", "TCL900")
    assert run.remaining.results == ()


def test_findings_in_one_line_wait_for_each_other() -> None:
    run = _fix("a = f(f(f(1))); b = f(2)\n", rename("f", "h"))
    assert _after(run) == "a = h(h(h(1))); b = h(2)\n"


def test_more_findings_than_passes_on_one_line_settle() -> None:
    many = " + ".join(["f(1)"] * 30)
    run = _fix(f"a = {many}\n", rename("f", "h"))
    assert "".join(_after(run).split()) == f"a=({many})".replace("f", "h").replace(" ", "")
    assert run.remaining.errors == ()


def test_fixing_that_never_settles_ends_with_an_error() -> None:
    run = _fix("a = f(1)\n", rename("f", "f", "TCL901"))
    assert run.changed == ()
    assert run.declined[0].diagnostic.code == "TCL901"

    def flip(node: ast.AST) -> tuple[str, Repair] | None:
        return rename("f", "g")(node) or rename("g", "f")(node)

    run = _fix("a = f(1)\n", flip)
    (error,) = run.remaining.errors
    assert "did not settle" in error.message
    assert "TCL900" in error.message
    assert run.changed == ()


def test_a_fix_that_keeps_coming_back_is_left_out_and_others_are_kept() -> None:
    def rule(node: ast.AST) -> tuple[str, Repair] | None:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="end"))):
                return "TCL901", Repair("Wait", (Insert(node, "wait()"),))
        return rename("f", "h")(node)

    run = _fix("a = f(1)\nif a:\n    end()\nb = f(2)\n", rule)
    assert _after(run) == "a = h(1)\nif a:\n    end()\nb = h(2)\n"
    assert "TCL901" in run.remaining.errors[0].message
    assert [one.diagnostic.code for one in run.declined] == ["TCL901"]


def test_shared_import_is_added_once() -> None:
    def rule(node: ast.AST) -> tuple[str, Repair] | None:
        found = rename("f", "math.f")(node)
        if found is None:
            return None
        return found[0], Repair("m", (*found[1].rewrites, Import("math")))

    run = _fix("import a\n\nx = f(1)\ny = f(2)\n", rule)
    assert _after(run) == "import math\n\nimport a\n\nx = math.f(1)\ny = math.f(2)\n"


def test_unsafe_fixes_wait_to_be_asked_for() -> None:
    def rule(node: ast.AST) -> tuple[str, Repair] | None:
        found = rename("f", "h")(node)
        if found is None:
            return None
        return found[0], Repair("m", found[1].rewrites, Change.BEHAVIOUR, "things")

    assert _fix("f(1)\n", rule).changed == ()
    assert _after(_fix("f(1)\n", rule, unsafe=True)) == "h(1)\n"


def test_configuration_says_which_rules_may_fix() -> None:
    rule = rename("f", "h", "TCL310")
    assert _fix("f(1)\n", rule, unfixable=("TCL3",)).changed == ()
    assert _fix("f(1)\n", rule, fixable=("TCL1",)).changed == ()
    assert _after(_fix("f(1)\n", rule, fixable=("TCL3", "TCL1"))) == "h(1)\n"
    assert _after(_fix("f(1)\n", rule, fixable=("ALL",))) == "h(1)\n"


def test_declined_fix_is_reported_and_the_others_applied() -> None:
    def rule(node: ast.AST) -> tuple[str, Repair] | None:
        return rename("f", "h")(node) or rename("g", "(", "TCL902")(node)

    run = _fix("a = g(1)\nb = f(2)\n", rule)
    assert _after(run) == "a = g(1)\nb = h(2)\n"
    (declined,) = run.declined
    assert declined.diagnostic.code == "TCL902"
    assert "template" in declined.decline.reason


def test_text_that_its_encoding_cannot_hold_is_taken_back() -> None:
    rule = rename("f", "ü")
    check = checker(rule)

    def latin(paths: Sequence[Path], config: Config, overlay: Mapping[Path, str]) -> Run:
        run = check(paths, config, overlay)
        return Run(
            tuple(
                Result(r.diagnostic, r.repair, SourceFile.from_text(PATH, r.file.text, "ascii"))
                for r in run.results
            )
        )

    run = fix_files([PATH], Config(Path()), overlay={PATH: "f(1)\n"}, check=latin)
    assert run.changed == ()
    (error,) = run.remaining.errors
    assert "were reverted" in error.message


def test_files_are_fixed_apart() -> None:
    other = Path("n.py")
    run = fix_files(
        [PATH, other],
        Config(Path()),
        overlay={PATH: "f(1)\n", other: "g(1)\n"},
        check=checker(rename("f", "h")),
    )
    assert [file.path for file in run.changed] == [PATH]


def test_fix_that_would_not_compile_takes_no_other_one_with_it() -> None:
    def rule(node: ast.AST) -> tuple[str, Repair] | None:
        return rename("f", "h")(node) or rename("g", "(lambda a, a: a)", "TCL902")(node)

    run = _fix("a = f(1)\nb = 2\nc = g(3)\n", rule)
    assert _after(run) == "a = h(1)\nb = 2\nc = g(3)\n"
    (error,) = run.remaining.errors
    assert error.message == "the fixes of TCL902 were reverted: the result would not compile"


def test_text_that_never_compiled_is_fixed_all_the_same() -> None:
    assert _after(_fix("return f(1)\n", rename("f", "h"))) == "return h(1)\n"


def test_a_fix_whose_own_text_breaks_the_graph_still_is_declined() -> None:
    half = rename("a", "b")

    def rule(node: ast.AST) -> tuple[str, Repair | None] | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "b":
            return "TCL901", None
        return half(node)

    run = _fix("x = a(1)\n", rule)
    assert run.changed == ()
    (declined,) = run.declined
    assert declined.diagnostic.code == "TCL900"
    assert "still break there (TCL901)" in declined.decline.reason


def test_a_break_beside_what_a_fix_wrote_is_not_held_against_it() -> None:
    half = rename("a", "c")

    def rule(node: ast.AST) -> tuple[str, Repair | None] | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "b":
            return "TCL901", None
        return half(node)

    assert _after(_fix("x = b(a(1))\n", rule)) == "x = b(c(1))\n"
