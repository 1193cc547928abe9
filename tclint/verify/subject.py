"""The thing under test: made by its factory, seeded, compiled, called (child process only)."""

from __future__ import annotations

import hashlib
import os
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_map

from tclint.records import record
from tclint.verify import steps
from tclint.verify.arms import REGIONAL
from tclint.verify.contract import Loaded
from tclint.verify.errors import TargetError
from tclint.verify.recorder import Backend, CompileRecorder
from tclint.verify.regional import repeated_blocks
from tclint.verify.snapshot import Snapshot, take
from tclint.verify.targets import Target, call_factory, import_target
from tclint.verify.vary import with_varied

SEED = 0


@record(frozen=True)
class Making:
    """How to make subjects: ``inputs`` are configured ones, ``phase`` is what one call does.

    ``vary`` says what other inputs are like (:mod:`tclint.verify.vary`).
    """

    target: Target
    root: Path
    device: str | None = None
    phase: str = "forward"
    inputs: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()


@record(frozen=True)
class Subject:
    """One fresh instance of the target.

    ``itself``: it calls ``torch.compile`` on its own. ``in_place``: what it calls is compiled, so
    that only the stance tells eager from compiled. ``optimizer`` is set where the phase needs one.
    """

    loaded: Loaded
    compiled: Callable[..., Any]
    itself: bool
    in_place: bool
    phase: str
    optimizer: torch.optim.Optimizer | None = None

    @property
    def module(self) -> torch.nn.Module | None:
        """The module that holds the weights, where the target is one."""
        bare = getattr(self.loaded.function, "_orig_mod", self.loaded.function)
        return bare if isinstance(bare, torch.nn.Module) else None

    @property
    def trains(self) -> bool:
        """True when one call is the target's own train step."""
        return self.phase == "step" and self.loaded.train_step is not None

    def entry(self, model: Callable[..., Any]) -> Callable[..., Any]:
        """What one call calls with the inputs: ``model``, or the train step around it."""
        step = self.loaded.train_step
        if step is None or not self.trains:
            return model
        parts = {"model": model, "optimizer": self.optimizer}
        return partial(step, *(parts[name] for name in self.loaded.given))

    def call_compiled(self) -> object:
        """Call the compiled form."""
        return self._call(self.compiled)

    def call_eager(self) -> object:
        """Call the target with nothing compiled."""
        stance: AbstractContextManager[Any] = nullcontext()
        if self.itself or self.in_place:
            stance = torch.compiler.set_stance("force_eager")
        with stance:
            return self._call(self.entry(self.loaded.function))

    def aftermath(self) -> dict[str, Snapshot]:
        """What a run leaves behind besides results: gradients, weights, optimizer state."""
        left: dict[str, Snapshot] = {}
        if self.phase != "forward":
            left["gradients"] = take(steps.gradients(self.module, self.input_tensors()))
        if self.module is not None:
            left["state"] = take(self.module.state_dict())
        if self.optimizer is not None:
            left["optimizer"] = take(self.optimizer.state_dict()["state"])
        return left

    def input_tensors(self) -> list[torch.Tensor]:
        """All tensors among the inputs."""
        return list(steps.leaves((self.loaded.args, self.loaded.kwargs)))

    def _call(self, function: Callable[..., Any]) -> object:
        args, kwargs = self.loaded.args, self.loaded.kwargs
        if self.phase == "backward":
            parameters = list(self.module.parameters()) if self.module is not None else []
            steps.clear_gradients([*parameters, *self.input_tensors()])
            return steps.backward(function, args, kwargs)
        if self.phase == "step" and self.optimizer is not None and not self.trains:
            return steps.training_step(function, self.optimizer, args, kwargs)
        return function(*args, **kwargs)


def turn_on(settings: Sequence[str]) -> None:
    """Turn on settings of Dynamo for the rest of this process, as far as this torch has them."""
    for name in settings:
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, True)


class Workshop:
    """Makes fresh subjects of one target in this process."""

    def __init__(
        self,
        making: Making,
        backend: Backend | None,
        spread: Callable[[Loaded], Loaded] | None = None,
    ) -> None:
        """Import the target's module; ``backend`` replaces those of its own compile calls.

        ``spread`` makes one rank's share of what the factory gave.
        """
        os.chdir(making.root)
        self._spread = spread
        self._making, self._whole, self._mode = making, False, ""
        self._recorder = CompileRecorder(backend)
        self._recorder.install()
        seed()
        self._module = import_target(making.target, making.root)
        own = [m for m in list(sys.modules.values()) if _within(m, making.root)]
        self._globals = [(module, dict(vars(module))) for module in own]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the tree that are loaded by now: the factory may import some, too."""
        own = [m for m in list(sys.modules.values()) if _within(m, self._making.root)]
        paths = {Path(module.__file__ or "").resolve() for module in own}
        return tuple(sorted(str(path) for path in paths if path.is_file()))

    def make(self, *, double: bool = False, fullgraph: bool = False, **options: Any) -> Subject:
        """Call the factory; compile its result unless the target does so itself.

        ``double``: in float64. ``fullgraph``: all that is compiled must be one graph.
        """
        for module, names in self._globals:
            vars(module).update(names)
        self._recorder.fullgraph = fullgraph
        self._recorder.models.clear()
        seed()
        loaded = self._load()
        if double:
            loaded = _widened(loaded)
        loaded = self._placed(loaded)
        if self._spread is not None:
            loaded = self._spread(loaded)
        itself = self._recorder.calls > 0 and not self._whole and not self._recorder.ignored
        options |= {"fullgraph": True} if fullgraph else {}
        subject = Subject(loaded, loaded.function, itself, False, self._making.phase)
        return self._compile(self._with_optimizer(subject), options)

    @property
    def compiled_itself(self) -> list[Any]:
        """What the target gave ``torch.compile`` while its factory last ran."""
        return [] if self._whole else list(self._recorder.models)

    def compile_whole(self) -> None:
        """Forget the target's own compile calls: they turned out to concern something else."""
        self._whole = True

    def compile_for_real(self, mode: str) -> None:
        """Leave the backends of the target's own compile calls alone; ``mode`` replaces theirs.

        With the mode ``default`` theirs stay.
        """
        self._recorder.backend = None
        self._recorder.mode = mode if mode not in {"default", REGIONAL} else ""

    def compile_regions(self) -> None:
        """Compile repeated blocks instead of the whole, whatever the target does itself."""
        self._mode = REGIONAL
        self._recorder.ignored = True

    def _load(self) -> Loaded:
        target = self._making.target
        loaded = call_factory(target, self._module, self._making.inputs)
        loaded = with_varied(loaded, self._making.vary, target.text)
        if self._making.phase == "backward" and not _trainable(loaded.function):
            # Nothing to train: the backward goes to the inputs.
            for tensor in steps.leaves((loaded.args, loaded.kwargs, loaded.vary)):
                if tensor.is_leaf and tensor.is_floating_point():
                    tensor.requires_grad_()
        return loaded

    def _compile(self, subject: Subject, options: dict[str, Any]) -> Subject:
        loaded, real = subject.loaded, self._recorder.real
        entry = subject.entry(loaded.function)
        if self._mode == REGIONAL:
            blocks = repeated_blocks(loaded.function) if subject.module is not None else ()
            if not blocks:
                raise TargetError("no block is repeated: there are no regions to compile")
            for block in blocks:
                self._recorder.compile_module_in_place(block, options)
            return replace(subject, compiled=entry, in_place=True)
        if subject.itself:
            return replace(subject, compiled=entry)
        if subject.trains and "model" in loaded.given:
            return replace(subject, compiled=subject.entry(real(loaded.function, **options)))
        if subject.trains and isinstance(loaded.function, torch.nn.Module):
            self._recorder.compile_module_in_place(loaded.function, options)
            return replace(subject, compiled=entry, in_place=True)
        return replace(subject, compiled=real(entry, **options))

    def _with_optimizer(self, subject: Subject) -> Subject:
        if subject.phase != "step":
            return subject
        parameters = list(subject.module.parameters()) if subject.module is not None else []
        trainable = [parameter for parameter in parameters if parameter.requires_grad]
        given, taken = subject.loaded.optimizer, "optimizer" in subject.loaded.given
        if subject.trains and given is None and not taken:
            return subject
        optimizer = steps.make_optimizer(given, trainable)
        if optimizer is None and taken:
            text = self._making.target.text
            raise TargetError(
                f"{text}: `train_step` takes an optimizer, but nothing can be trained"
            )
        return replace(subject, optimizer=optimizer)

    def _placed(self, loaded: Loaded) -> Loaded:
        if self._making.device is None:
            return loaded
        device = torch.device(self._making.device)
        if device.type == "cuda" and not torch.cuda.is_available():
            why = (
                "this torch is built without CUDA" if torch.version.cuda is None else "none is seen"
            )
            raise TargetError(f"the target is to run on a GPU, but there is none: {why}")

        def move(value: object) -> object:
            if not isinstance(value, torch.Tensor):
                return value
            return value.detach().to(device).requires_grad_(value.requires_grad)

        if isinstance(loaded.function, torch.nn.Module):
            loaded.function.to(device)
        args, kwargs, vary = tree_map(move, (loaded.args, loaded.kwargs, loaded.vary))
        return replace(loaded, args=args, kwargs=kwargs, vary=vary)


def seed(number: int = SEED) -> None:
    """Seed every generator that the target may draw from."""
    random.seed(number)
    torch.manual_seed(number)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number)


def random_state() -> Snapshot:
    """The state of all generators, to see whether two runs drew alike."""
    python = hashlib.sha256(repr(random.getstate()).encode()).hexdigest()[:16]
    states: dict[str, Any] = {"python": python, "cpu": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state()
    return take(states)


def place_names(values: Iterable[object]) -> str:
    """The kind of device that the tensors among ``values`` live on, for the report."""
    kinds = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    kind = "cuda" if "cuda" in kinds else "cpu"
    return torch.cuda.get_device_name() if kind == "cuda" else kind


def _trainable(function: object) -> bool:
    bare = getattr(function, "_orig_mod", function)
    if not isinstance(bare, torch.nn.Module):
        return False
    return any(parameter.requires_grad for parameter in bare.parameters())


def _widened(loaded: Loaded) -> Loaded:
    def widen(value: object) -> object:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        return value.detach().double().requires_grad_(value.requires_grad)

    if isinstance(loaded.function, torch.nn.Module):
        loaded.function.double()
    return replace(loaded, args=tree_map(widen, loaded.args), kwargs=tree_map(widen, loaded.kwargs))


def _within(module: ModuleType | None, root: Path) -> bool:
    file: str | None = getattr(module, "__file__", None)
    return file is not None and is_of_user(file, root)


def is_of_user(file: str, root: Path) -> bool:
    """True for a file below the root that is neither an installed package's nor tclint's."""
    if not file or file.startswith("<") or "site-packages" in file:
        return False
    path = Path(file).resolve()
    return root.resolve() in path.parents and Path(__file__).parents[1] not in path.parents
