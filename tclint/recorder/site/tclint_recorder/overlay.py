"""Files whose text is another than on disk, or that say where a step ends.

The text on disk is not touched, and no byte code is left behind.
"""

from __future__ import annotations

import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any

STEP = "__tclint_step__"
"""The name, among Python's own, of what a marked place calls."""
_MAIN = "TCLINT_RECORD_MAIN"


class Overlay:
    """The texts by the real paths of their files, and the place that ends a step."""

    def __init__(self, texts: dict[str, str], marker: str) -> None:
        self._texts = {os.path.realpath(path): text for path, text in texts.items()}
        file, _, last = marker.rpartition(":")
        self._row = int(last) if last.isdecimal() else 0
        self._file = os.path.realpath(file) if self._row else ""
        self._module, self._function = ("", "") if self._row else (file, last)
        self._names = {os.path.basename(path) for path in (*self._texts, self._file)}
        self.unmarked = marker
        """The place, until it was found."""

    def covers(self, path: str, module: str = "") -> bool:
        """Whether a file, or the module that it is, has another text or the place."""
        if module and module == self._module:
            return True
        if os.path.basename(path) not in self._names:
            return False
        real = os.path.realpath(path)
        return real in self._texts or real == self._file

    def code(self, path: str, module: str = "") -> CodeType | None:
        """What to run instead of a file; None for what is on disk."""
        if not self.covers(path, module):
            return None
        real = os.path.realpath(path)
        text = self._texts.get(real)
        if real != self._file and not (module and module == self._module):
            return None if text is None else _compiled(_remembered(path, text), path)
        if text is None:
            with open(path, "rb") as file:
                source: bytes | str = file.read()
        else:
            source = _remembered(path, text)
        return self._marked(source, path)

    def _marked(self, source: bytes | str, path: str) -> CodeType:
        from . import marks

        tree = marks.parsed(source, path)
        if marks.mark(tree, self._row, self._function, STEP):
            self.unmarked = ""
        return _compiled(tree, path)


def read() -> Overlay | None:
    """What the user gives, if anything."""
    file, marker = (os.environ.get(f"TCLINT_RECORD_{name}", "") for name in ("OVERLAY", "MARKER"))
    if not file and not marker:
        return None
    texts: dict[str, str] = {}
    if file:
        before = set(sys.modules)
        import json

        with open(file, encoding="utf-8") as opened:
            texts = dict(json.load(opened))
        for name in set(sys.modules) - before:
            # A program's own module of that name stays the one that it gets.
            del sys.modules[name]
    return Overlay(texts, marker)


def put_in_place(overlay: Overlay, then: dict[str, Callable[[ModuleType], object]]) -> None:
    """Have Python load these texts, however it comes to load the files."""
    import _frozen_importlib_external as external

    setattr(builtins, STEP, lambda: None)
    get_code = external.SourceLoader.get_code

    def code_of(loader: Any, name: str) -> CodeType | None:
        code = overlay.code(loader.get_filename(name), name)
        found: CodeType | None = get_code(loader, name) if code is None else code
        return found

    external.SourceLoader.get_code = code_of  # type: ignore[assignment, method-assign]
    then["runpy"] = lambda runpy: _for_paths(overlay, runpy)


def _for_paths(overlay: Overlay, runpy: Any) -> None:
    """A worker that is spawned runs its parent's script by its path."""
    from_file = runpy._get_code_from_file

    def code_from_file(*args: Any) -> Any:
        code = overlay.code(args[-1])
        if code is None:
            return from_file(*args)
        # Older Python gives the path as well.
        return code if len(args) == 1 else (code, args[-1])

    runpy._get_code_from_file = code_from_file


def become(overlay: Overlay) -> None:
    """Where the script itself has another text, start again with what runs that.

    Python reads a script itself, and asks nobody.
    """
    main = os.environ.pop(_MAIN, None)
    options = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv)]
    if main is not None:
        sys.argv[0] = main
        sys.orig_argv = [*options, *sys.argv]
    elif os.path.isfile(sys.argv[0]) and overlay.covers(sys.argv[0]):
        shim = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim.py")
        os.environ[_MAIN] = sys.argv[0]
        os.execv(sys.executable, [*options, shim, *sys.argv[1:]])


def run_main(overlay: Overlay, names: dict[str, Any]) -> None:
    """Be the script, whose name is the first argument, in the names of ``__main__``."""
    import _frozen_importlib_external as external

    script = sys.argv[0]
    path = os.path.abspath(script)
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    # All else is there as for any script.
    names.update(
        __file__=path, __doc__=None, __loader__=external.SourceFileLoader("__main__", path)
    )
    code = overlay.code(path)
    if code is not None:
        exec(code, names)


def _remembered(path: str, text: str) -> str:
    """Have tracebacks and ``inspect`` show the text that runs."""
    import linecache

    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return text


def _compiled(source: Any, path: str) -> CodeType:
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code
