"""Rules come from installed packs, the built-in one first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from zipfile import ZipFile

import pytest

from tclint.diagnostics import Effect
from tclint.errors import UserError
from tclint.lint import links, registry
from tclint.lint.packs import Pack, installed_packs
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead


class Mine(Rule[HostRead]):
    """A third party's rule."""

    code = "MINE1"
    name = "mine"
    summary = "Mine."
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)

    def check(self, event: HostRead) -> Finding | None:
        return None


class Claims(Mine):
    """A rule with the code of another."""

    code = "TCL101"


RULES = (Mine, Claims)
NOT_RULES = 3
RAISES = (lambda: 1 // 0,)


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Pack]]:
    """The packs that seem to be installed."""
    installed = registry.rule_packs()
    monkeypatch.setattr(registry, "installed_packs", lambda group: installed)
    forget()
    yield installed
    forget()


def forget() -> None:
    """Load the packs anew the next time."""
    registry.load_rules.cache_clear()
    registry._loaded.cache_clear()


def pack(name: str, value: str, *headers: str) -> Pack:
    return Pack(name, value, "\n".join(headers))


def test_rules_are_ordered_by_code_and_made_once() -> None:
    rules = registry.load_rules()
    assert [rule.code for rule in rules] == sorted({rule.code for rule in rules})
    assert registry.load_rules() is rules


def test_a_rule_is_found_by_its_code_however_written() -> None:
    assert registry.rule_by_code("tcl101").code == "TCL101"
    with pytest.raises(registry.UnknownRuleError):
        registry.rule_by_code("TCL9999")


def test_other_packs_add_rules_but_take_no_codes(packs: list[Pack]) -> None:
    packs.insert(0, pack("another", f"{__name__}:RULES"))
    assert isinstance(registry.rule_by_code("MINE1"), Mine)
    assert not isinstance(registry.rule_by_code("TCL101"), Claims)


@pytest.mark.parametrize(
    "value",
    [
        "no.such.module:RULES",
        f"{__name__}:NO_SUCH_NAME",
        f"{__name__}:NOT_RULES",
        f"{__name__}:RAISES",
    ],
)
def test_a_pack_that_cannot_be_loaded_is_left_out_with_a_warning(
    packs: list[Pack], value: str
) -> None:
    packs.append(pack("broken", value))
    with pytest.warns(RuntimeWarning, match="'broken'"):
        rules = registry.load_rules()
    assert "TCL101" in {rule.code for rule in rules}


def test_a_pack_s_syntax_error_is_placed(
    packs: list[Pack], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_pack.py").write_text("RULES = (\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    packs.append(pack("broken", "broken_pack:RULES"))
    with pytest.warns(RuntimeWarning, match=r"broken_pack\.py:1: .* its rules do not run"):
        registry.load_rules()


def test_without_its_own_rules_tclint_does_not_run(packs: list[Pack]) -> None:
    packs[:] = [pack("builtin", f"{__name__}:RAISES")]
    with pytest.raises(UserError, match="tclint's own rules cannot be loaded: ZeroDivisionError"):
        registry.load_rules()


@pytest.mark.parametrize(
    ("addresses", "page"),
    [
        ((), "https://meta-pytorch.org/compile-graph-break-site/gb/gb0124.html"),
        (("Source, https://example.org/src",), None),
        (("Documentation, https://example.org/docs/",), "https://example.org/docs/rules/MINE1/"),
    ],
)
def test_the_page_of_a_rule_is_where_its_package_says(
    packs: list[Pack], addresses: tuple[str, ...], page: str | None
) -> None:
    urls = [f"Project-URL: {address}" for address in addresses]
    packs.append(pack("another", f"{__name__}:RULES", *urls))
    assert links.page_of("MINE1", () if page is None else ("GB0124",)) == page


def _install(folder: Path, name: str, entries: str, about: str = "") -> None:
    place = folder / name
    place.mkdir(parents=True)
    (place / "entry_points.txt").write_text(entries, encoding="utf-8")
    file = "METADATA" if place.suffix == ".dist-info" else "PKG-INFO"
    (place / file).write_text(about, encoding="utf-8")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two folders that Python imports from, and nothing else."""
    found = [tmp_path / "first", tmp_path / "second"]
    monkeypatch.setattr(sys, "path", [*map(str, found), str(tmp_path / "none")])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    return found


ENTRIES = """\
[console_scripts]
a = a:main

# tclint.rules
[tclint.rules]
one = some.pack:RULES
# two = another:RULES
two=another : Rules.ALL [extra]

[other]
three = third:RULES
"""


def test_packs_are_those_that_importlib_finds(folders: list[Path]) -> None:
    first, second = folders
    _install(first, "My.Pack-1.0.dist-info", ENTRIES)
    _install(first, "empty-1.0.dist-info", "")
    _install(second, "my_pack-0.9.dist-info", "[tclint.rules]\nold = old:RULES\n")
    _install(second, "local.egg-info", "[tclint.rules]\nlocal = local:RULES\n")
    (second / "bare-1.0.dist-info").mkdir()
    (second / "module.py").write_text("", encoding="utf-8")
    found = installed_packs("tclint.rules")
    assert sorted(pack.name for pack in found) == ["local", "one", "two"]
    expected = {(e.name, e.value) for e in entry_points(group="tclint.rules")}
    assert {(pack.name, pack.value) for pack in found} == expected
    assert {pack.module for pack in found} == {"some.pack", "another", "local"}


def test_what_a_pack_names_is_loaded() -> None:
    assert pack("path", "os : path.sep [extra]").load() == os.sep
    assert pack("module", "os").load() is os


def test_packs_in_an_archive_are_found(folders: list[Path], tmp_path: Path) -> None:
    _install(folders[0], "plain-1.0.dist-info", "[tclint.rules]\nplain = plain:RULES\n")
    archive = tmp_path / "packs.zip"
    with ZipFile(archive, "w") as file:
        file.writestr("zipped-1.0.dist-info/entry_points.txt", ENTRIES)
        file.writestr(
            "zipped-1.0.dist-info/METADATA", "Name: zipped\nProject-URL: Docs, there\n\nText\n"
        )
    sys.path.append(str(archive))
    found = {pack.name: pack for pack in installed_packs("tclint.rules")}
    assert found.keys() == {"plain", "one", "two"}
    assert found["one"].page("Docs") == "there"


def test_what_a_package_describes_is_no_header(folders: list[Path]) -> None:
    about = "Name: my\nproject-url: Other, x\nProject-URL: Home page , https://a, b\n\n"
    text = about + "Project-URL: Documentation, https://example.org\n"
    for number, folder in enumerate(("my-1.0.dist-info", "ours-1.0.egg-info")):
        _install(folders[0], folder, f"[tclint.rules]\none{number} = some.pack:RULES\n", text)
    packs = installed_packs("tclint.rules")
    assert [pack.page("Home page") for pack in packs] == ["https://a, b"] * 2
    assert [pack.page("Other") for pack in packs] == ["x"] * 2
    assert [pack.page("Documentation") for pack in packs] == [None] * 2
