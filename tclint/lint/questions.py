"""Which rules are asked about which events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tclint.lint.rule import Rule
from tclint.semantics.events import Call, Event


class Questions:
    """The rules of a run by what they look at: types of events, and of calls the names called."""

    def __init__(self, rules: Sequence[Rule[Any]]) -> None:
        self._by_event: defaultdict[type[Event], list[Rule[Any]]] = defaultdict(list)
        for rule in rules:
            self._by_event[rule.on].append(rule)
        on_calls = self._by_event.get(Call, [])
        self._otherwise = [rule for rule in on_calls if not rule.called]
        self._by_name: dict[str, list[Rule[Any]]] = {
            name: [rule for rule in on_calls if not rule.called or name in rule.called]
            for name in {name for rule in on_calls for name in rule.called}
        }

    @property
    def events(self) -> list[type[Event]]:
        """The types of events that some rule looks at."""
        return [*self._by_event]

    def about(self, event: Event) -> Sequence[Rule[Any]]:
        """The rules that an event may concern, in the order of the run."""
        if isinstance(event, Call):
            named = self._by_name.get(event.function.rpartition(".")[2])
            return self._otherwise if named is None else named
        return self._by_event[type(event)]
