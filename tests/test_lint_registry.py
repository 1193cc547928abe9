"""Rules come from installed packs, the built-in one first."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tclint.diagnostics import Effect
from tclint.errors import UserError
from tclint.lint import links, registry
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
def packs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The packs that seem to be installed."""
    installed = registry.rule_packs()
    monkeypatch.setattr(metadata, "entry_points", lambda group: installed)
    forget()
    yield installed
    forget()


def forget() -> None:
    """Load the packs anew the next time."""
    registry.load_rules.cache_clear()
    registry._loaded.cache_clear()


def pack(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, registry.GROUP)


def test_rules_are_ordered_by_code_and_made_once() -> None:
    rules = registry.load_rules()
    assert [rule.code for rule in rules] == sorted({rule.code for rule in rules})
    assert registry.load_rules() is rules


def test_a_rule_is_found_by_its_code_however_written() -> None:
    assert registry.rule_by_code("tcl101").code == "TCL101"
    with pytest.raises(registry.UnknownRuleError):
        registry.rule_by_code("TCL9999")


def test_other_packs_add_rules_but_take_no_codes(packs: list[EntryPoint]) -> None:
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
    packs: list[EntryPoint], value: str
) -> None:
    packs.append(pack("broken", value))
    with pytest.warns(RuntimeWarning, match="'broken'"):
        rules = registry.load_rules()
    assert "TCL101" in {rule.code for rule in rules}


def test_a_pack_s_syntax_error_is_placed(
    packs: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_pack.py").write_text("RULES = (\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    packs.append(pack("broken", "broken_pack:RULES"))
    with pytest.warns(RuntimeWarning, match=r"broken_pack\.py:1: .* its rules do not run"):
        registry.load_rules()


def test_without_its_own_rules_tclint_does_not_run(packs: list[EntryPoint]) -> None:
    packs[:] = [pack("builtin", f"{__name__}:RAISES")]
    with pytest.raises(UserError, match="tclint's own rules cannot be loaded: ZeroDivisionError"):
        registry.load_rules()


class _Distribution:
    """What is installed, with the addresses that its metadata names."""

    def __init__(self, *addresses: str) -> None:
        self.metadata = Message()
        for address in addresses:
            self.metadata["Project-URL"] = address


@pytest.mark.parametrize(
    ("addresses", "page"),
    [
        ((), None),
        (("Source, https://example.org/src",), None),
        (("Documentation, https://example.org/docs/",), "https://example.org/docs/rules/MINE1/"),
    ],
)
def test_the_page_of_a_rule_is_where_its_package_says(
    packs: list[EntryPoint], addresses: tuple[str, ...], page: str | None
) -> None:
    mine = pack("another", f"{__name__}:RULES")
    vars(mine)["dist"] = _Distribution(*addresses)
    packs.append(mine)
    links._site_of.cache_clear()
    assert links.page_of("MINE1") == page
    links._site_of.cache_clear()
