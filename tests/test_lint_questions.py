"""Which rules are asked about which events, and that none is silent about what it lists."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from tclint.lint.questions import Questions
from tclint.lint.registry import load_rules
from tclint.semantics.events import Call, Event, HostRead


def rule(on: type[Event], *called: str) -> Any:
    return SimpleNamespace(on=on, called=called)


def call(function: str) -> Call:
    node = ast.parse("f()", mode="eval").body
    assert isinstance(node, ast.Call)
    return Call(node, None, function, node)  # type: ignore[arg-type]


def test_rules_are_asked_about_the_names_that_they_list_in_the_order_of_the_run() -> None:
    roots, all_calls, reads = rule(Call, "sqrt", "rsqrt"), rule(Call), rule(HostRead)
    squares = rule(Call, "sqrt", "square")
    questions = Questions([roots, all_calls, reads, squares])
    assert questions.events == [Call, HostRead]
    assert questions.about(call("torch.sqrt")) == [roots, all_calls, squares]
    assert questions.about(call("torch.Tensor.rsqrt")) == [roots, all_calls]
    assert questions.about(call("sqrt")) == [roots, all_calls, squares]
    assert questions.about(call("torch.sqrt.other")) == [all_calls]


def test_nobody_is_asked_where_no_rule_wants_to_know() -> None:
    questions = Questions([rule(HostRead)])
    assert not questions.about(call("torch.sqrt"))


@pytest.mark.parametrize("built_in", load_rules(), ids=lambda rule: rule.code)
def test_only_rules_on_calls_list_names_and_only_last_ones(built_in: Any) -> None:
    assert not built_in.called or built_in.on is Call
    assert not any("." in name for name in built_in.called)
