"""What ``from ... import *`` brings along that has the name of a builtin.

Of torch's modules the table of its names tells it. The others are kept by hand, for all releases of
numpy and of Python together; ``tests/test_torch_facts_kept_by_hand.py`` asks those that are
installed.
"""

from __future__ import annotations

import builtins
import collections
import functools
import itertools
import math
import operator
import random
import sys
from typing import Final

from tclint.torch_facts.lifetimes import lifetimes

BUILTINS: Final = frozenset(dir(builtins))
_PLAIN: Final = (collections, functools, itertools, math, operator, random)
OF_PYTHON: Final = {
    module.__name__: frozenset(
        getattr(module, "__all__", [name for name in dir(module) if not name.startswith("_")])
    )
    for module in _PLAIN
}
"""All that the stars of some modules bring along, which this Python has as every other."""
_OF_NUMPY: Final = frozenset("abs all any bool divmod max min pow round sum".split())
_OF_PYTHON: Final = {
    "Ellipsis": "ast", "ascii": "encodings",
    "compile": "py_compile re sre_compile", "copyright": "sys", "enumerate": "threading",
    "exit": "sys",
    "filter": "curses fnmatch", "format": "locale", "help": "pdb pydoc", "input": "fileinput",
    "max": "audioop",
    "open": "aifc bz2 codecs dbm gzip lzma os ossaudiodev posix shelve sunau tarfile wave "
    "webbrowser",
    "property": "enum", "repr": "reprlib", "slice": "ast", "str": "locale",
    "TimeoutError": "multiprocessing", "Warning": "sqlite3",
}  # fmt: skip


def brings(module: str, builtin: str) -> bool | None:
    """Whether a star brings another meaning for a builtin's name; None where that is not known."""
    if module in OF_PYTHON:
        return builtin in OF_PYTHON[module]
    package = module.partition(".")[0]
    if package == "torch":
        return f"{module}.{builtin}".removeprefix("torch.") in lifetimes("names")
    if module == "numpy":
        return builtin in _OF_NUMPY
    if module in sys.stdlib_module_names and not module.startswith("_"):
        return module in _OF_PYTHON.get(builtin, "").split()
    return None
