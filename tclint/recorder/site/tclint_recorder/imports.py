"""Do something right after a module was imported, by whoever imports it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class AfterImport:
    """A finder that finds nothing itself: it lets the others find, and watches the loading."""

    def __init__(self, then: dict[str, Callable[[ModuleType], object]]) -> None:
        self._then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Be a finder of ``sys.meta_path``."""
        if name not in self._then:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None
            if finder is not self and find is not None:
                spec = find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Watching(spec.loader, self._then)  # type: ignore[assignment]
                return spec
        return None


class _Watching:
    """Stands in for a loader until the module is loaded, and is gone by then."""

    def __init__(self, loader: Any, then: dict[str, Callable[[ModuleType], object]]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Be a loader."""
        spec.loader = self._loader
        try:
            module: ModuleType | None = self._loader.create_module(spec)
            return module
        finally:
            spec.loader = self  # type: ignore[assignment]

    def exec_module(self, module: ModuleType) -> None:
        """Be a loader, then say that the module is there."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        then = self._then.pop(module.__name__, None)
        if then is not None:
            then(module)


# Python leaves its own frames out of the traceback of an import that fails, by these two names;
# with them, such a program's last words are what they would have been.
_Watching.exec_module.__code__ = _Watching.exec_module.__code__.replace(
    co_filename="<frozen importlib._bootstrap>", co_name="_call_with_frames_removed"
)
