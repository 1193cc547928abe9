"""Objects of libraries, and calls of those of their methods that Dynamo does not trace."""

from __future__ import annotations

from tclint.torch_facts.instances import METHODS

HASH = {"copy": "copy()", "digest": "digest()", "hexdigest": "hexdigest()", "update": "update(b'')"}
STREAM = {"read": "read()", "seek": "seek(0)", "truncate": "truncate()"}
QUEUE = {"put": "put(1)", "put_nowait": "put_nowait(1)", "get": "get(False)"}
LOCK = {"acquire": "acquire(False)", "locked": "locked()", "release": "release()"}
DATE = {"strftime": "strftime('%Y')", "replace": "replace(year=2001)"}
LIST = {"choice": "choice([1, 2])", "shuffle": "shuffle([1, 2])", "permutation": "permutation(3)"}
MADE: dict[str, tuple[str, dict[str, str]]] = {
    "concurrent.futures.ThreadPoolExecutor": (
        "concurrent.futures.ThreadPoolExecutor(1)", {"submit": "submit(len, [])"},
    ),
    "contextvars.ContextVar": (
        "contextvars.ContextVar('c', default=None)", {"set": "set(1)", "reset": "reset(o.set(2))"},
    ),
    "datetime.date": ("datetime.date(2020, 1, 1)", DATE),
    "datetime.datetime": ("datetime.datetime(2020, 1, 1)", DATE),
    "datetime.timedelta": ("datetime.timedelta(seconds=3)", {}),
    "decimal.Decimal": (
        "decimal.Decimal('1.5')", {"compare": "compare(o)", "quantize": "quantize(o)"},
    ),
    "hashlib.blake2b": ("hashlib.blake2b()", HASH),
    "hashlib.md5": ("hashlib.md5()", HASH),
    "hashlib.sha1": ("hashlib.sha1()", HASH),
    "hashlib.sha256": ("hashlib.sha256()", HASH),
    "hashlib.sha512": ("hashlib.sha512()", HASH),
    "io.BytesIO": ("io.BytesIO(b'a')", STREAM | {"write": "write(b'a')"}),
    "io.StringIO": ("io.StringIO('a')", STREAM | {"write": "write('a')"}),
    "numpy.random.Generator": ("numpy.random.default_rng(0)", LIST | {"integers": "integers(3)"}),
    "numpy.random.RandomState": ("numpy.random.RandomState(0)", LIST | {"randint": "randint(3)"}),
    "pathlib.Path": ("pathlib.Path('a')", {"write_text": "write_text('a')"}),
    "queue.Queue": ("queue.Queue()", QUEUE),
    "queue.SimpleQueue": ("queue.SimpleQueue()", QUEUE),
    "random.Random": (
        "random.Random(0)",
        LIST | {
            "choices": "choices([1, 2])", "gauss": "gauss(0, 1)", "getrandbits": "getrandbits(3)",
            "sample": "sample([1, 2], 1)",
        },
    ),
    "re.Pattern": ("re.compile('a')", {"finditer": "finditer('a')"}),
    "string.Template": ("string.Template('a')", {}),
    "struct.Struct": ("struct.Struct('i')", {"pack": "pack(1)", "unpack": "unpack(b'abcd')"}),
    "threading.Condition": ("threading.Condition()", {}),
    "threading.Event": ("threading.Event()", {"wait": "wait(0)"}),
    "threading.Lock": ("threading.Lock()", LOCK),
    "threading.RLock": ("threading.RLock()", LOCK),
    "threading.Semaphore": ("threading.Semaphore()", {}),
    "threading.Thread": ("threading.Thread(target=print)", {"join": "join(0)"}),
    "torch.Generator": (
        "torch.Generator()",
        {"manual_seed": "manual_seed(0)", "set_state": "set_state(o.get_state())"},
    ),
    "torch.amp.GradScaler": ("torch.amp.GradScaler('cpu')", {"scale": "scale(x)"}),
    "torch.cuda.amp.GradScaler": (
        "torch.cuda.amp.GradScaler(enabled=False)", {"scale": "scale(x)"},
    ),
    "torch.profiler.profile": ("torch.profiler.profile()", {}),
}  # fmt: skip
"""Per class, what makes an object, and the calls that need arguments."""

IMPORTS = (
    "import concurrent.futures, contextvars, datetime, decimal, hashlib, io, pathlib, queue, random"
    "\nimport re, string, struct, threading, numpy, torch"
)


def programs() -> dict[str, str]:
    """A program for each method of a class that can be made."""
    return {
        f"{cls}.{method}": _program(*MADE[cls], method)
        for classes in METHODS.values()
        for cls, names in classes.items()
        for method in names.split()
        if cls in MADE
    }


def _program(made: str, calls: dict[str, str], method: str) -> str:
    call = calls.get(method, f"{method}()")
    body = f"    y = x + 1\n    r = o.{call}\n    return y * 2\n"
    return f"{IMPORTS}\no = {made}\ndef f(x):\n{body}"
