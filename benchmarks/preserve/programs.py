"""Programs by number: a function or module around pieces of the grammar."""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.preserve.drive import Parameter
from benchmarks.preserve.forms import STARS
from benchmarks.preserve.grammar import HERO, Writer
from benchmarks.preserve.phrases import GRAMMAR, HELPERS, IMPORTS

_NAMES = {
    "V": "x",
    "M": "m",
    "S": "s",
    "B": "mask",
    "I": "idx",
    "N": "rate",
    "K": "steps",
    "D": "dev",
}
_HINTS = {"N": "float", "K": "int"}
_DECORATORS = (
    *[""] * 8,
    "@torch.no_grad()\n",
    "@torch.inference_mode()\n",
    "@wrapped\n",
    "@functools.lru_cache(None)\n",
    "@torch.autocast('cpu', torch.bfloat16)\n",
    "@torch.enable_grad()\n",
)
_WRAPPED = """def wrapped(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call"""
_BASES = {
    "Base": "class Base(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.base = 1\n",
    "Lone": "class Lone(nn.Module):\n    made = 0\n",
}
_STAR = "*args"
_FORMS = 0.65
_STARRED = 0.1
_PLAIN = re.compile(
    r"(torch\.(?:zeros|ones|arange|rand|tensor)\((?:[\d., ]|\[[\d., ]*\]|\(\))+)\)"
    r"(?!\.to\b|\.cpu|\.type_as|\.float|\.tolist|\.fill)"
)
"""Tensors on the default device: half of the programs make them where the first argument is."""
_METHODS = (
    "def read(self, t):\n    return t.sum().item()",
    "def read(self, t):\n    return t[0].item()",
    "def read(self, t):\n    self.count += 1\n    return float(t.max())",
    "@staticmethod\ndef read(t):\n    return t.sum().item()",
    "@torch.no_grad()\ndef read(self, t):\n    return t.mean().item()",
    "@torch.inference_mode()\ndef read(self, t):\n    return (t * 2).sum().item()",
)


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a program that defines ``f``, and what ``f`` is called with."""

    number: int
    text: str
    parameters: tuple[Parameter, ...]
    module: bool


def program(number: int, seed: int = 0) -> Program:
    """The program of a number: the same one, wherever and whenever it is asked for."""
    chance = random.Random(f"{seed} {number}")
    module = chance.random() < 0.4
    kinds = ["V", *chance.choices("VVVMSBINKD", k=chance.choice((0, 1, 1, 1, 2)))]
    names = list(_named(kinds))
    declared = [chance.random() < 0.75 for _ in kinds]
    writer = Writer(_grammar(module=module), chance)
    for kind, name in zip(kinds, names, strict=True):
        writer.bind(kind, name)
    if module:
        for kind, name in (("V", "self.buf"), ("V", "self.w"), ("S", "self.scale")):
            if chance.random() < 0.5:
                writer.bind(kind, name)
        writer.reach["V"].sort(key="x".__eq__)
    writer.bind(HERO, writer.chance.choice(writer.reach["V"]))
    body = writer.expand("form" if chance.random() < _FORMS else "body")
    if chance.random() < 0.5:
        body = _PLAIN.sub(r"\1, device=x.device)", body)
    listed = _signature(kinds, names, declared, chance)
    if listed == _STAR:
        body = f"{', '.join(names)}, = args\n{body}"
    text = _module(body, listed, chance) if module else _function(body, listed, chance)
    parameters = tuple(Parameter(k, d) for k, d in zip(kinds, declared, strict=True))
    stars = [chance.choice(STARS)] if chance.random() < _STARRED else []
    return Program(number, whole(text, stars), parameters, module)


def programs(count: int, seed: int, start: int = 0) -> Iterator[Program]:
    """Some programs that are Python."""
    for number in range(start, start + count):
        one = program(number, seed)
        try:
            compile(one.text, "program.py", "exec")
        except SyntaxError:
            continue
        yield one


def _grammar(*, module: bool) -> dict[str, Sequence[str]]:
    return {
        **GRAMMAR,
        "module_state": GRAMMAR["self_state" if module else "counting"],
        "gated": GRAMMAR["gated_module" if module else "gated_function"],
        "skipping": GRAMMAR["skipping_module" if module else "skipping_function"],
        "rate_of": GRAMMAR["rate_of_module" if module else "rate_of_function"],
    }


def _named(kinds: Sequence[str]) -> Iterator[str]:
    used: set[str] = set()
    for kind in kinds:
        name = next(n for n in (_NAMES[kind], "y", "z", "a", "b") if n not in used)
        used.add(name)
        yield name


def _signature(
    kinds: Sequence[str],
    names: Sequence[str],
    declared: Sequence[bool],
    chance: random.Random,
) -> str:
    listed = [
        f"{name}: {_HINTS.get(kind, 'torch.Tensor')}" if known and kind != "D" else name
        for kind, name, known in zip(kinds, names, declared, strict=True)
    ]
    if not any(declared) and chance.random() < 0.2:
        return _STAR
    if kinds[-1] in "NK" and chance.random() < 0.3:
        listed[-1] += " = 1" if ":" in listed[-1] else "=1"
    return ", ".join(listed)


def _function(body: str, listed: str, chance: random.Random) -> str:
    decorator = chance.choice(_DECORATORS)
    head = f"{_WRAPPED}\n\n\n" if "@wrapped" in decorator else ""
    body = textwrap.indent(body, "    ")
    if chance.random() < 0.04:  # a module that loads torch where it needs it
        body = f"    import torch\n{body}"
    return f"{head}{decorator}def f({listed}):\n{body}"


def _module(body: str, listed: str, chance: random.Random) -> str:
    base = chance.choice(("nn.Module", "nn.Module", "nn.Module", "Base", "Lone"))
    setup = [
        "super().__init__()" if base != "Lone" or chance.random() < 0.7 else "Lone.__init__(self)",
        "self.w = nn.Parameter(torch.tensor([1.0, 2.0, -1.0, 0.5]))",
        "self.register_buffer('buf', torch.tensor([0.5, 1.0, 2.0, -1.0]))",
        "self.register_buffer('scale', torch.tensor(1.5))",
    ]
    optional = {
        "count": "self.count = 0", "kept": "self.kept = None", "total": "self.total = 0.0",
        "cache": "self.cache = None", "history": "self.history = []", "sizes": "self.sizes = {}",
        "head": "self.head = nn.Linear(4, 4)", "norm": "self.norm = nn.LayerNorm(4)",
        "cfg": f"self.cfg = {chance.choice(('Config', 'Config', 'Answers'))}()",
        "rate": "self.rate = 0.0", "layerdrop": "self.layerdrop = 0.0",
        "last": "self.last = 0.0", "table": "self.table = [0.5, 1.0, 2.0, 3.0, 4.0]",
    }  # fmt: skip
    methods = {
        "read": chance.choice(_METHODS),
        "bump": "def bump(self, t):\n    t.add_(1)",
        "same": "def same(self, t):\n    return t",
        "average": "def average(self, t):\n    print('average')\n    return t.mean().item()",
    }
    used = {name: text for name, text in methods.items() if f"self.{name}(" in body}
    seen = body + "".join(used.values())
    setup += [line for name, line in optional.items() if f"self.{name}" in seen]
    if base == "nn.Module" and chance.random() < 0.1:
        slots = "    __slots__ = ('extra',)\n\n"
    else:
        slots = ""
    listed = f"self, {listed}"
    head = "" if base == "nn.Module" else _BASES[base] + "\n\n"
    decorator = chance.choice(_DECORATORS[:10])
    parts = [
        "def __init__(self):\n" + textwrap.indent("\n".join(setup), "    "),
        *used.values(),
        f"{decorator}def forward({listed}):\n" + textwrap.indent(body, "    "),
    ]
    inside = textwrap.indent("\n\n".join(parts), "    ")
    return f"{head}class f({base}):\n{slots}{inside}"


def whole(text: str, imports: Sequence[str] = ()) -> str:
    """With the imports and definitions of the names that it uses."""
    helpers: list[str] = []
    wanted, seen = text, set()
    while True:
        new = [n for n in HELPERS if n not in seen and re.search(rf"(?<![.\w]){n}\b", wanted)]
        if not new:
            break
        seen.update(new)
        wanted = "\n".join(HELPERS[name] for name in new)
        helpers = [HELPERS[name] for name in new] + helpers
    defined = "\n\n\n".join([*helpers, text])
    local = "\n    import torch\n" in defined
    used = [n for n in IMPORTS if re.search(rf"(?<![.\w]){n}\b", defined) and n != "torch"]
    first = "from __future__ import annotations" if local else IMPORTS["torch"]
    lines = dict.fromkeys([first, *(IMPORTS[n] for n in used), *imports])
    return "\n".join(lines) + "\n\n\n" + defined + "\n"
