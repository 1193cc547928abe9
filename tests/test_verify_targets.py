"""Targets: how they are written, found, and where "before" comes from."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tclint.verify.errors import TargetError
from tclint.verify.overlay import install
from tclint.verify.session import Comparison, before_and_after
from tclint.verify.targets import Target, call_factory, import_target, parse_target
from tclint.verify.trees import before_tree

# Loaded for good: the clean-up below would unload it, and it cannot be imported twice.
pytest.importorskip("torch", reason="factories are called where torch is")

FACTORY = "def make():\n    return len, ([1, 2],), {}\n"


@pytest.fixture(autouse=True)
def clean_imports() -> Iterator[None]:
    path, modules, finders = list(sys.path), set(sys.modules), list(sys.meta_path)
    yield
    sys.path[:], sys.meta_path[:] = path, finders
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pkg.mod:make", Target("pkg.mod:make", "pkg.mod", "make")),
        ("a/b.py:make", Target("a/b.py:make", "a/b.py", "make")),
        ("a/b.py:Case.make", Target("a/b.py:Case.make", "a/b.py", "Case.make")),
        ("C:/a/b.py:make", Target("C:/a/b.py:make", "C:/a/b.py", "make")),
    ],
)
def test_a_target_is_read(text: str, expected: Target) -> None:
    assert parse_target(text) == expected


@pytest.mark.parametrize("text", ["", "a", "a.py", ":make", "a:", "a/b:make", "a b:make", "a.py:1"])
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(TargetError, match="is not a target"):
        parse_target(text)


def test_a_file_is_imported_and_its_factory_called(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(FACTORY)
    target = parse_target("program.py:make")
    loaded = call_factory(target, import_target(target, tmp_path))
    assert (loaded.function, loaded.args, loaded.kwargs) == (len, ([1, 2],), {})


def test_a_file_inside_a_package_may_import_its_siblings(tmp_path: Path) -> None:
    package = tmp_path / "vpackage"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sibling.py").write_text(FACTORY)
    (package / "program.py").write_text("from .sibling import make\n")
    module = import_target(parse_target("vpackage/program.py:make"), tmp_path)
    assert module.__name__ == "vpackage.program"


def test_a_module_is_found_in_a_src_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "vmodule.py").write_text(FACTORY)
    module = import_target(parse_target("vmodule:make"), tmp_path)
    assert module.__file__ == str(tmp_path / "src" / "vmodule.py")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    return len\n", "not builtin_function_or_method"),
        ("    return len, [1], {}\n", "must return"),
        ("    return 3, (), {}\n", r"not \(int, tuple, dict\)"),
    ],
)
def test_a_factory_that_breaks_the_contract_is_told_so(
    tmp_path: Path, body: str, said: str
) -> None:
    (tmp_path / "contract.py").write_text("def make():\n" + body)
    target = parse_target("contract.py:make")
    module = import_target(target, tmp_path)
    if "[1]" in body:
        assert call_factory(target, module).args == (1,)
        return
    with pytest.raises(TargetError, match=said):
        call_factory(target, module)


def test_a_factory_in_a_mapping_is_named_by_its_key(tmp_path: Path) -> None:
    (tmp_path / "makers.py").write_text("MAKERS = {'one': lambda: (len, (1,), {})}\n")
    made, lacking = (parse_target(f"makers.py:MAKERS[{name}]") for name in ("one", "two"))
    module = import_target(made, tmp_path)
    assert call_factory(made, module).args == (1,)
    with pytest.raises(TargetError, match=r"makers\.py:MAKERS has no factory 'two'"):
        call_factory(lacking, module)


def test_a_missing_file_or_factory_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="does not exist"):
        import_target(parse_target("nothing.py:make"), tmp_path)
    (tmp_path / "empty.py").write_text("")
    target = parse_target("empty.py:make")
    with pytest.raises(TargetError, match="has no 'make'"):
        call_factory(target, import_target(target, tmp_path))


def test_overlaid_files_are_imported_from_their_new_text(tmp_path: Path) -> None:
    for name in ("overlaid", "beside"):
        (tmp_path / f"{name}.py").write_text("VALUE = 'disk'\n")
    (tmp_path / "program.py").write_text("import overlaid, beside\n")
    texts = {str((tmp_path / f"{name}.py").resolve()): "VALUE = 'new'\n" for name in ("overlaid",)}
    install(texts)
    module = import_target(parse_target("program.py:make"), tmp_path)
    assert (module.overlaid.VALUE, module.beside.VALUE) == ("new", "disk")


def test_an_overlaid_target_file_itself_is_new(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("VALUE = 'disk'\n")
    install({str(file.resolve()): "VALUE = 'new'\n"})
    assert import_target(parse_target("program.py:make"), tmp_path).VALUE == "new"


def test_before_may_be_a_revision_seen_from_a_subfolder(tmp_path: Path) -> None:
    sub = tmp_path / "sub"
    sub.mkdir()
    (sub / "program.py").write_text("OLD = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    (sub / "program.py").write_text("NEW = 1\n")
    with before_tree("HEAD", sub) as tree:
        assert (tree.root / "program.py").read_text() == "OLD = 1\n"
        place = tree.locate(parse_target(f"{sub / 'program.py'}:make"), sub)
        assert place == "program.py:make"
    assert not tree.root.exists()


def test_before_may_be_a_folder_or_a_single_file(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(FACTORY)
    with before_and_after("new.py:make", tmp_path, Comparison(str(tmp_path))) as sides:
        assert [side.target for side in sides] == ["new.py:make", "new.py:make"]
    with before_and_after("new.py:make", tmp_path, Comparison(str(tmp_path / "old.py"))) as sides:
        assert sides[0].target == f"{tmp_path / 'old.py'}:make"


def test_a_before_that_is_nothing_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(TargetError, match="neither a folder, nor a file, nor a git revision"),
        before_tree("no-such-thing", tmp_path),
    ):
        pass


def test_a_factory_with_parameters_is_told_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "sized.py").write_text("def make(config, size=4, *rest):\n    return None\n")
    target = parse_target("sized.py:make")
    module = import_target(target, tmp_path)
    with pytest.raises(TargetError, match=r"make\(config\) cannot be called without arguments"):
        call_factory(target, module)


def test_a_script_is_pointed_to_the_command_that_measures_it() -> None:
    with pytest.raises(TargetError, match=r"tclint run -- python train\.py"):
        parse_target("train.py")
