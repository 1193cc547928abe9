"""More examples for random numbers of numpy's and Python's, and for calls that are traced."""

from __future__ import annotations

from tclint.lint.rule import Bad, Example, Good, Untouched

_COMPILED = "not torch.compiler.is_compiling() or"


def _layers(body: str) -> str:
    """A model that leaves layers out; the statements of its loop, parted by ``|``."""
    lines = "\n".join(f"            {line}" for line in body.split("|"))
    return f"""
import random


class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))
        self.rate = 0.3
        self.kept = True
        self.train(False)

    def forward(self, x):
        for layer in self.layers:
{lines}
        return x
"""


def _fixed(title: str, draw: str, rest: str, needed: str, gb_id: str = "GB0033") -> Bad:
    """The draw is moved under an `if`; ``draw`` is its value, ``rest`` the statements behind it."""
    after = f"p = 1.0|if {_COMPILED} {needed}:|    p = {draw}"
    return Bad(
        _layers(f"p = {draw}|{rest}"),
        fixed=_layers(f"{after}|{rest}"),
        proves=(gb_id,),
        title=title,
    )


def _kept(title: str, body: str, gb_id: str = "GB0033", reason: str = "torch.rand") -> Untouched:
    return Untouched(_layers(body), reason, proves=(gb_id,), title=title)


NUMPY: tuple[Example, ...] = (
    _fixed(
        "kept in eval or above the rate",
        "np.random.random()",
        "if not self.training or p > self.rate:|    x = layer(x)",
        "self.training",
    ),
    _fixed(
        "decided by a variable",
        "np.random.uniform(0, 1)",
        "skip = self.training and self.kept and p < self.rate|if not skip:|    x = layer(x)",
        "(\n                self.training and self.kept and self.rate > 0.0\n            )",
    ),
    _kept("an array of one number", "x = layer(x) * np.random.rand(1).item()"),
    _kept("a permutation", "x = layer(x)[np.random.permutation(4)]", "GB0294"),
    _kept("no flag and a rate written out", "p = np.random.rand()|if p < 0.5:|    x = layer(x)"),
    _kept("above a rate", "p = np.random.rand()|if p > self.rate:|    x = layer(x)"),
    _kept("used as well", "p = np.random.rand()|if self.training and p < 0.5:|    x = x * p"),
    _kept(
        "a call in between",
        "p = np.random.rand()|self.train(False)|if self.training and p < 0.5:|    x = layer(x)",
    ),
    _kept("no variable", "if np.random.rand() < self.rate:|    x = layer(x)"),
    _kept("a chain", "p = np.random.rand()|if self.training and 0 < p < 0.5:|    x = layer(x)"),
)

PYTHON: tuple[Example, ...] = (
    _fixed(
        "a layer that is dropped at random",
        "random.random()",
        "if not (self.training and p < self.rate):|    x = layer(x)",
        "(self.training and self.rate > 0.0)",
        "GB0007",
    ),
    _kept("a factor", "x = layer(x) * random.random()", "GB0007"),
)

_CONFIG = """
import copy


class Config:
    def __init__(self):
        self.scale = 2
        self.sizes = [1, 2]


class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config()

    def forward(self, x):
        config = copy.deepcopy(self.config)
        config.scale = 3
        return x * config.scale + sum(self.config.sizes)
"""

# Dynamo asks these while tracing, so that there is nothing to move out of compiled code.
TRACED: tuple[Example, ...] = (
    Good(
        "\nfrom functools import lru_cache\nfrom importlib.util import find_spec\n\n\n"
        '@lru_cache\ndef has_numpy():\n    return find_spec("numpy") is not None\n\n\n'
        "def f(x):\n    return x * 2 if has_numpy() else x + 1\n",
        title="a package that is looked for",
    ),
    Good(
        "\nimport importlib.metadata\n\n\ndef f(x):\n    y = x * 2\n"
        '    return y + 1 if importlib.metadata.version("numpy") else y\n',
        title="a package's version",
    ),
    Good(
        "\ndef f(x):\n    y = x * 2\n    try:\n        import json\n"
        "    except ImportError:\n        return y\n    return y + len(json.__name__)\n",
        title="an import that may fail",
    ),
    Good(_CONFIG, title="a configuration that is copied"),
)

RANDOM: dict[str, tuple[Example, ...]] = {"TCL181": NUMPY, "TCL180": PYTHON + TRACED}
