"""The thing under test: made by its factory, seeded, compiled, called (child process only)."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from tclint.verify.targets import Loaded, Target, call_factory, import_target

_SEED = 0
_TORCH = str(Path(torch.__file__).parent)
_MODULE_COMPILE = str(Path("nn", "modules", "module.py"))
_REPLACED = ("backend", "mode", "options")

Backend = Callable[..., Any]


class CompileRecorder:
    """Stands in for ``torch.compile``: counts the target's own calls, may swap their backend.

    The real function still sees the real arguments first, so that a wrong mode or an unknown
    backend fails here as it does for the user.
    """

    def __init__(self, backend: Backend | None) -> None:
        """``backend`` replaces the target's own; None leaves it alone."""
        self.real = torch.compile
        self.calls = 0
        self._backend = backend

    def install(self) -> None:
        """Take the place of ``torch.compile`` for the rest of this process."""
        torch.compile = self

    def __call__(self, model: Any = None, **options: Any) -> Any:
        """Compile like ``torch.compile``."""
        caller = sys._getframe(1).f_code.co_filename
        if caller.startswith(_TORCH) and not caller.endswith(_MODULE_COMPILE):
            return self.real(model, **options)
        if model is None:
            return lambda decorated: self._compile(decorated, options)
        return self._compile(model, options)

    def _compile(self, model: Any, options: dict[str, Any]) -> Any:
        self.calls += 1
        compiled = self.real(model, **options)
        if self._backend is None:
            return compiled
        kept = {key: value for key, value in options.items() if key not in _REPLACED}
        return self.real(model, backend=self._backend, **kept)


@dataclass(frozen=True, slots=True)
class Subject:
    """One fresh instance of the target. ``itself``: it calls ``torch.compile`` on its own."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    compiled: Callable[..., Any]
    itself: bool

    @property
    def module(self) -> torch.nn.Module | None:
        """The module that holds the weights, where the target is one."""
        bare = getattr(self.function, "_orig_mod", self.function)
        return bare if isinstance(bare, torch.nn.Module) else None

    def call_compiled(self) -> object:
        """Call the compiled form."""
        return self.compiled(*self.args, **self.kwargs)

    def call_eager(self) -> object:
        """Call the target with nothing compiled."""
        if not self.itself:
            return self.function(*self.args, **self.kwargs)
        with torch.compiler.set_stance("force_eager"):
            return self.function(*self.args, **self.kwargs)


class Workshop:
    """Makes fresh subjects of one target in this process."""

    def __init__(
        self, target: Target, root: Path, device: str | None, backend: Backend | None
    ) -> None:
        """Import the target's module; ``backend`` replaces those of its own compile calls."""
        os.chdir(root)
        self._target, self._device, self._whole = target, device, False
        self._recorder = CompileRecorder(backend)
        self._recorder.install()
        seed()
        self._module = import_target(target, root)
        own = [m for m in list(sys.modules.values()) if _within(m, root)]
        self._globals = [(module, dict(vars(module))) for module in own]
        self.files = tuple(sorted({str(Path(module.__file__ or "").resolve()) for module in own}))

    def make(self, **compile_options: Any) -> Subject:
        """Call the factory; compile its result unless the target does so itself."""
        for module, names in self._globals:
            vars(module).update(names)
        seed()
        loaded = self._placed(call_factory(self._target, self._module))
        itself = self._recorder.calls > 0 and not self._whole
        compiled = loaded.function
        if not itself:
            compiled = self._recorder.real(loaded.function, **compile_options)
        return Subject(loaded.function, loaded.args, loaded.kwargs, compiled, itself)

    def compile_whole(self) -> None:
        """Forget the target's own compile calls: they turned out to concern something else."""
        self._whole = True

    def _placed(self, loaded: Loaded) -> Loaded:
        if self._device is None:
            return loaded
        device = torch.device(self._device)

        def move(value: object) -> object:
            return value.to(device) if isinstance(value, torch.Tensor) else value

        function = loaded.function
        if isinstance(function, torch.nn.Module):
            function.to(device)
        return Loaded(function, tree_map(move, loaded.args), tree_map(move, loaded.kwargs))


def seed() -> None:
    """Seed every generator that the target may draw from."""
    random.seed(_SEED)
    torch.manual_seed(_SEED)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_SEED)


def place_names(values: Iterable[object]) -> str:
    """The kind of device that the tensors among ``values`` live on, for the report."""
    kinds = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    kind = "cuda" if "cuda" in kinds else "cpu"
    return torch.cuda.get_device_name() if kind == "cuda" else kind


def _within(module: ModuleType | None, root: Path) -> bool:
    file = getattr(module, "__file__", None)
    if not file or "site-packages" in file:
        return False
    path = Path(file).resolve()
    return root.resolve() in path.parents and Path(__file__).parents[1] not in path.parents
