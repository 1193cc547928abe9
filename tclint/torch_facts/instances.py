"""Objects of libraries whose methods Dynamo does not trace: each call breaks the graph.

Compiled one by one on torch 2.13 with default settings, on objects made outside of compiled code;
the ids are those that Dynamo printed. What is traced (``Event.is_set``, ``Path.name``, draws of
``random.Random``) is not listed.

Kept by hand: Dynamo says so only when it meets a call. ``tests/test_torch_facts_instances.py``
compiles each.
"""

from __future__ import annotations

from typing import Final

from tclint.torch_facts.lifetimes import Version
from tclint.torch_facts.measured import Skipped, measured

_NUMBERS: Final = "choice integers normal permutation random shuffle standard_normal uniform"
_HASH: Final = "copy digest hexdigest update"

METHODS: Final[dict[str, dict[str, str]]] = {
    "GB0007": {
        "pathlib.Path": (
            "exists is_dir is_file mkdir open read_text resolve stat touch unlink write_text"
        ),
    },
    "GB0008": {
        "torch.amp.GradScaler": "get_growth_factor get_scale is_enabled scale state_dict",
        "torch.cuda.amp.GradScaler": "get_scale is_enabled scale update",
        "torch.profiler.profile": "start step stop",
    },
    "GB0059": {"pathlib.Path": "read_bytes"},
    "GB0088": {"threading.Thread": "join"},
    "GB0142": {
        "concurrent.futures.ThreadPoolExecutor": "shutdown submit",
        "queue.Queue": "empty full get get_nowait put put_nowait qsize",
        "threading.Event": "clear set wait",
        "threading.Semaphore": "acquire release",
        "threading.Thread": "start",
    },
    "GB0156": {
        "contextvars.ContextVar": "get reset set",
        "datetime.date": "isoformat replace strftime timetuple toordinal weekday",
        "datetime.datetime": (
            "ctime date isoformat replace strftime time timestamp timetuple weekday"
        ),
        "datetime.timedelta": "total_seconds",
        "decimal.Decimal": "compare is_nan quantize sqrt to_integral_value",
        "hashlib.blake2b": _HASH,
        "hashlib.md5": _HASH,
        "hashlib.sha1": _HASH,
        "hashlib.sha256": _HASH,
        "hashlib.sha512": _HASH,
        "io.BytesIO": "close getbuffer getvalue read seek tell write",
        "io.StringIO": "close getvalue read readline seek tell truncate write",
        "numpy.random.Generator": _NUMBERS,
        "numpy.random.RandomState": "choice normal permutation rand randint randn uniform",
        "queue.SimpleQueue": "empty get get_nowait put put_nowait qsize",
        "random.Random": "choice choices gauss getrandbits sample shuffle",
        "struct.Struct": "pack unpack",
        "threading.Condition": "acquire notify notify_all release",
        "threading.Lock": "acquire locked release",
        "threading.RLock": "acquire release",
    },
    "GB0292": {"re.Pattern": "finditer"},
    "GB0299": {"string.Template": "safe_substitute substitute"},
    "GB2019": {"torch.autograd.function.FunctionCtx": "mark_dirty"},
    "GB7650": {
        "torch.Generator": "clone_state get_state initial_seed manual_seed seed set_state",
    },
}
"""Per id, the methods by class."""

INSTANCES: Final[dict[str, str]] = {
    "torch.cuda.default_generators": "torch.cuda.default_generators",
    "torch.default_generator": "torch.Generator",
    "torch.random.default_generator": "torch.Generator",
}
"""Objects that torch holds ready, and their classes; one per device is a class of its own."""
_MADE_BY: Final[dict[str, str]] = {
    "datetime.date.today": "datetime.date",
    "datetime.datetime.fromtimestamp": "datetime.datetime",
    "datetime.datetime.now": "datetime.datetime",
    "datetime.datetime.today": "datetime.datetime",
    "datetime.datetime.utcnow": "datetime.datetime",
    "numpy.random.default_rng": "numpy.random.Generator",
    "pathlib.Path.cwd": "pathlib.Path",
    "re.compile": "re.Pattern",
}
_BY_NAME: Final[dict[str, str]] = {
    f"{cls}.{method}": gb_id
    for gb_id, classes in METHODS.items()
    for cls, methods in classes.items()
    for method in methods.split()
}
_SINCE: Final = {"torch.autograd.function.FunctionCtx.mark_dirty": (2, 13)}
_CLASSES: Final = frozenset(name for classes in METHODS.values() for name in classes)
_SCHEDULER: Final = "torch.optim.lr_scheduler."
_OPTIMIZER: Final = "torch.optim."
_OF_SCHEDULERS: Final = frozenset({"get_last_lr", "state_dict", "step"})
_OF_OPTIMIZERS: Final = frozenset({"state_dict", "zero_grad"})
SKIPPED_METHODS: Final = (
    _OF_SCHEDULERS | _OF_OPTIMIZERS | {name.rpartition(".")[2] for name in _BY_NAME}
)
"""The names of all methods that break the graph, of whichever class."""


def is_skipped_method(dotted: str) -> bool:
    """Whether a method's call breaks the graph on some release."""
    return _gb_id(dotted) is not None


def skipped_method(dotted: str, version: Version) -> Skipped | None:
    """How a method's call breaks the graph on a release, or on others; None if it is not known to.

    ``dotted`` is the class and the method: ``threading.Lock.acquire``.
    """
    gb_id = _gb_id(dotted)
    if gb_id is None:
        return None
    return measured(dotted, version) or Skipped(gb_id, since=_SINCE.get(dotted))


def _gb_id(dotted: str) -> str | None:
    """What torch 2.13 prints at a method's call; None when it is traced or not known to break."""
    method = dotted.rpartition(".")[2]
    if dotted.startswith(_SCHEDULER):
        return "GB0008" if method in _OF_SCHEDULERS else None
    if dotted.startswith(_OPTIMIZER):
        return "GB0008" if method in _OF_OPTIMIZERS else None
    return _BY_NAME.get(dotted)


def instance_class(dotted: str) -> str | None:
    """The class of what a call makes, where that class has methods that break the graph."""
    return dotted if dotted in _CLASSES else _MADE_BY.get(dotted)
