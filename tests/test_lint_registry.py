"""Rules come from installed packs, the built-in one first."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from tclint.diagnostics import Effect
from tclint.lint import registry
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


@pytest.fixture
def packs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The packs that seem to be installed."""
    installed = list(registry.entry_points(group=registry.GROUP))
    monkeypatch.setattr(registry, "entry_points", lambda group: installed)
    registry.load_rules.cache_clear()
    yield installed
    registry.load_rules.cache_clear()


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
    "value", ["no.such.module:RULES", f"{__name__}:NO_SUCH_NAME", f"{__name__}:NOT_RULES"]
)
def test_a_pack_that_cannot_be_loaded_is_left_out_with_a_warning(
    packs: list[EntryPoint], value: str
) -> None:
    packs.append(pack("broken", value))
    with pytest.warns(RuntimeWarning, match="'broken'"):
        rules = registry.load_rules()
    assert "TCL101" in {rule.code for rule in rules}
