"""Facts about torch's classes: layers, optimizers, learning-rate schedulers."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import Any

import torch
from torch import Tensor, nn, optim
from torch.optim import lr_scheduler

from scripts.torch_facts.annotations import Annotations, joined
from scripts.torch_facts.behaviour import FAILURES, LAYER_SHAPES, unary

# Layers that return more than their annotation says, or whose forward has none.
MODULE_RETURNS = {
    "AdaptiveLogSoftmaxWithLoss": "tuple",
    "GRU": "tuple",
    "LSTM": "tuple",
    "LSTMCell": "tensor*2",
    "MultiheadAttention": "tuple",
    "RNN": "tuple",
}
_CONTAINERS = """
    Container DataParallel Module ModuleDict ModuleList ParameterDict ParameterList RNNBase
    RNNCellBase Sequential
"""
CONTAINERS = frozenset(_CONTAINERS.split())
POSITIONAL = {"GRU": (4, 4), "LSTM": (4, 4), "RNN": (4, 4)}
SIZES: dict[str, Any] = {
    "cutoffs": [2],
    "kernel_size": 1,
    "n_classes": 8,
    "normalized_shape": 4,
    "num_groups": 2,
    "num_layers": 1,
    "output_size": 4,
    "padding": 1,
    "scale_factor": 2,
    "threshold": 0.1,
    "unflattened_size": (2, 2),
    "upscale_factor": 2,
    "decoder_layer": nn.TransformerDecoderLayer(4, 4),
    "downscale_factor": 2,
    "encoder_layer": nn.TransformerEncoderLayer(4, 4),
    "value": 0.0,
}
SCHEDULERS: dict[str, dict[str, Any]] = {
    "ConstantLR": {},
    "CosineAnnealingLR": {"T_max": 5},
    "CosineAnnealingWarmRestarts": {"T_0": 5},
    "CyclicLR": {"base_lr": 0.1, "max_lr": 0.2},
    "ExponentialLR": {"gamma": 0.9},
    "LambdaLR": {"lr_lambda": lambda step: 0.9**step},
    "LinearLR": {},
    "MultiStepLR": {"milestones": [1, 2]},
    "MultiplicativeLR": {"lr_lambda": lambda _: 0.9},
    "OneCycleLR": {"max_lr": 0.2, "total_steps": 10},
    "PolynomialLR": {},
    "ReduceLROnPlateau": {"patience": 0},
    "StepLR": {"step_size": 1},
}


def module_classes() -> dict[str, type[nn.Module]]:
    """The layers of ``torch.nn`` by their short names."""
    return {
        name: cls
        for name, cls in sorted(vars(nn).items())
        if inspect.isclass(cls) and issubclass(cls, nn.Module) and not name.startswith("_")
    }


def modules(reader: Annotations) -> dict[str, list[Any]]:
    """``[has parameters, what a call returns, "rank dtype" of a call]`` of each layer."""
    return {
        name: [_has_parameters(cls), _returns(name, cls, reader), _call_facts(cls)]
        for name, cls in module_classes().items()
    }


def _has_parameters(cls: type[nn.Module]) -> bool | None:
    if cls.__name__ in CONTAINERS:
        return None
    made = _construct(cls)
    if made is not None:
        return next(made.parameters(), None) is not None
    source = inspect.getsource(cls.__init__)
    return bool(re.search(r"Parameter\(|register_parameter|Linear\(", source))


def _returns(name: str, cls: type[nn.Module], reader: Annotations) -> str:
    if name in MODULE_RETURNS:
        return MODULE_RETURNS[name]
    if name in CONTAINERS:
        return "other"
    if "return_indices" in inspect.signature(cls.__init__).parameters or "MaxPool" in name:
        return "tensor" if "Unpool" in name else joined(("tensor", "tensor*2"))
    returns = cls.forward.__annotations__.get("return")
    if returns is None:
        return "other"
    text = returns if isinstance(returns, str) else inspect.formatannotation(returns)
    return reader.code(text)


def _call_facts(cls: type[nn.Module]) -> str | None:
    made = _construct(cls)
    if made is None or cls.__name__ in CONTAINERS:
        return None
    return unary(made.eval(), LAYER_SHAPES)


def _construct(cls: type[nn.Module]) -> nn.Module | None:
    arguments = {}
    for name, parameter in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        positional = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if positional and parameter.default is parameter.empty:
            arguments[name] = SIZES.get(name, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return cls(*POSITIONAL.get(cls.__name__, ()), **arguments)
        except FAILURES:
            return None


def optimizers() -> dict[str, dict[str, str]]:
    """The keyword parameters of each optimizer with their defaults as source text."""
    found = {}
    for name, cls in sorted(vars(optim).items()):
        if inspect.isclass(cls) and issubclass(cls, optim.Optimizer) and cls is not optim.Optimizer:
            parameters = list(inspect.signature(cls).parameters.values())[1:]
            found[name] = {p.name: repr(p.default) for p in parameters}
    return found


def tensor_lr() -> list[str]:
    """The optimizers that accept ``lr`` as a 0-d tensor and step with it."""
    accepted = []
    for name in optimizers():
        parameter = nn.Parameter(torch.ones(2, 2))
        try:
            optimizer = getattr(optim, name)([parameter], lr=torch.tensor(0.1))
            parameter.grad = torch.ones(2, 2)
            optimizer.step((lambda: torch.ones(())) if name == "LBFGS" else None)
        except FAILURES:
            continue
        if isinstance(optimizer.param_groups[0]["lr"], Tensor):
            accepted.append(name)
    return accepted


def schedulers() -> dict[str, list[str]]:
    """Each scheduler with the entries of a parameter group that it overwrites by new floats.

    A learning rate that is a tensor is written in place by all of them; betas and momentum are
    Python floats, so that changing them makes a compiled step recompile.
    """
    return {name: sorted(_written(name, options)) for name, options in SCHEDULERS.items()}


def _written(name: str, options: dict[str, Any]) -> set[str]:
    written: set[str] = set()
    for cls, momentum in ((optim.Adam, {}), (optim.SGD, {"momentum": 0.9})):
        optimizer = cls([nn.Parameter(torch.ones(2))], lr=torch.tensor(0.1), **momentum)
        scheduler = getattr(lr_scheduler, name)(optimizer, **options)
        before = dict(optimizer.param_groups[0])
        optimizer.step()
        scheduler.step(*([1.0] if name == "ReduceLROnPlateau" else []))
        after = optimizer.param_groups[0]
        written |= {key for key in before if after[key] is not before[key]}
    return written
