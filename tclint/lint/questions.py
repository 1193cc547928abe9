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
        self._on_calls = self._by_event.get(Call, [])
        self._otherwise = [rule for rule in self._on_calls if not rule.called]
        self._names = frozenset(name for rule in self._on_calls for name in rule.called)
        self._by_name: dict[str, list[Rule[Any]]] = {}

    @property
    def events(self) -> list[type[Event]]:
        """The types of events that some rule looks at."""
        return [*self._by_event]

    def about(self, event: Event) -> Sequence[Rule[Any]]:
        """The rules that an event may concern, in the order of the run."""
        if isinstance(event, Call):
            return self._about_call(event.function.rpartition(".")[2])
        return self._by_event[type(event)]

    def _about_call(self, name: str) -> Sequence[Rule[Any]]:
        if name not in self._names:
            return self._otherwise
        found = self._by_name.get(name)
        if found is None:
            # Few of the names that rules know occur in the files of a run.
            on_calls = self._on_calls
            found = [rule for rule in on_calls if not rule.called or name in rule.called]
            self._by_name[name] = found
        return found
