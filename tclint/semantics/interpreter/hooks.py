"""What the program registers on modules, to be called with their ``forward``."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.records import record
from tclint.semantics.symbols import ClassInfo, ModuleInfo
from tclint.semantics.values import Value

_WORD: Final = "register_forward_"


@record(frozen=True)
class Hook:
    """A function that was registered by a call; ``before`` the module's ``forward`` or after."""

    function: Value
    call: ast.Call
    before: bool
    with_keywords: bool


class Hooks:
    """All hooks that walks found so far, by what has them: a class, a layer, a kind of layer."""

    def __init__(self) -> None:
        self._known: dict[object, list[Hook]] = {}
        self._registering: dict[ModuleInfo, bool] = {}

    def add(self, key: object, hook: Hook) -> None:
        """Take in a hook, unless it is known."""
        known = self._known.setdefault(key, [])
        if hook not in known:
            known.append(hook)

    def of(self, key: object) -> list[Hook]:
        """The hooks of something, in the order in which they are called."""
        return self._known.get(key, [])

    def may_be_of(self, classes: tuple[ClassInfo | str, ...]) -> bool:
        """Whether the constructor of a class with this ancestry may register some."""
        modules = [one.module for one in classes if isinstance(one, ClassInfo)]
        return any(map(self._registers, modules))

    def _registers(self, module: ModuleInfo) -> bool:
        if module not in self._registering:
            self._registering[module] = _WORD in module.file.text
        return self._registering[module]
