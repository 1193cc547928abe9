"""A package that may not be installed is there or None: code for both is judged.

Each program was compiled with Dynamo, with `fastkernels` installed and `slowkernels` not.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.dynamo import breaks_in_calls
from tests.test_plain_objects import programs
from tests.test_rewritten_state import told

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


"""
BREAKING = programs("""
# none then guarded use
try:
    import fastkernels
except ImportError:
    fastkernels = None
def f(x):
    if fastkernels is not None:
        return x * x.sum().item()
    return x


# none then guarded, absent one
try:
    import slowkernels
except ImportError:
    slowkernels = None
def f(x):
    if slowkernels is None:
        return x * x.sum().item()
    return x


# raise in function then rest
try:
    import fastkernels
except ImportError:
    fastkernels = None
def f(x):
    if fastkernels is None:
        raise ImportError("no")
    return x * x.sum().item()


# raise, from import of a function
try:
    from fastkernels import scale
except ImportError:
    scale = None
def f(x):
    if scale is None:
        raise ImportError("no")
    y = scale(x)
    return y * x.sum().item()


# return early
try:
    from fastkernels import scale
except ImportError:
    scale = None
def f(x):
    if scale is None:
        return x
    return x * x.sum().item()


# not in place of is None
try:
    from fastkernels import scale
except ImportError:
    scale = None
def f(x):
    if not scale:
        raise RuntimeError
    return x * x.sum().item()


# truth
try:
    from fastkernels import scale
except ImportError:
    scale = None
def f(x):
    if scale:
        x = x * x.sum().item()
    return x


# flag beside
try:
    import fastkernels
    HAS = True
except ImportError:
    HAS = False
def f(x):
    if HAS:
        x = x * x.sum().item()
    return x


# flag beside, raise
try:
    import fastkernels
    HAS = True
except ImportError:
    HAS = False
def f(x):
    if not HAS:
        raise ImportError
    return x * x.sum().item()


# flag set first
HAS = False
try:
    import fastkernels
    HAS = True
except ImportError:
    pass
def f(x):
    if HAS:
        return x * x.sum().item()
    return x


# none first
fastkernels = None
try:
    import fastkernels
except ImportError:
    pass
def f(x):
    if fastkernels is not None:
        return x * x.sum().item()
    return x


# two names
try:
    from fastkernels import scale, size
except ImportError:
    scale = size = None
def f(x):
    if size is None:
        raise ImportError
    return x * x.sum().item()


# two names, tuple
try:
    from fastkernels import scale, size
except ImportError:
    scale, size = None, None
def f(x):
    if size is None:
        raise ImportError
    return x * x.sum().item()


# as
try:
    import fastkernels.ops as ops
except (ImportError, ModuleNotFoundError):
    ops = None
def f(x):
    assert ops is not None
    return x * x.sum().item()


# bare except
try:
    import fastkernels as fk
except Exception as error:
    fk = None
def f(x):
    assert fk is not None, "install it"
    return x * x.sum().item()


# in the constructor
try:
    import fastkernels as fk
except ImportError:
    fk = None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        if fk is None:
            raise ImportError
        self.n = 2
    def forward(self, x):
        return x * x.sum().item() * self.n
net = Net()
def f(x):
    return net(x)


# kept on the module
try:
    import fastkernels as fk
except ImportError:
    fk = None
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = fk is not None
    def forward(self, x):
        if self.fast:
            x = x * x.sum().item()
        return x
net = Net()
def f(x):
    return net(x)


# chosen at top level
try:
    import fastkernels as fk
except ImportError:
    fk = None
AVAILABLE = fk is not None
def f(x):
    if AVAILABLE:
        x = x * x.sum().item()
    return x


# else branch defines
try:
    import fastkernels as fk
except ImportError:
    fk = None
if fk is not None:
    def helper(x):
        return x * x.sum().item()
else:
    def helper(x):
        return x
def f(x):
    return helper(x)


# fallback function
try:
    from fastkernels import nothing_there
except ImportError:
    def nothing_there(x):
        return x * x.sum().item()
def f(x):
    return nothing_there(x)


# fallback function, present
try:
    from fastkernels import scale
except ImportError:
    def scale(x):
        return x * x.sum().item()
def f(x):
    y = scale(x)
    if y.sum() > 1:
        y = y + 1
    return y


# inside a function
def f(x):
    try:
        import fastkernels as fk
    except ImportError:
        fk = None
    if fk is None:
        raise ImportError
    return x * x.sum().item()


# in the outer function
def make():
    try:
        import fastkernels as fk
    except ImportError:
        fk = None
    def inner(x):
        if fk is None:
            return x
        return x * x.sum().item()
    return inner
f = make()
compiled = torch.compile(f)


# with a log
import warnings
try:
    import fastkernels as fk
except ImportError:
    warnings.warn("no kernels")
    fk = None
def f(x):
    if fk is None:
        raise ImportError
    return x * x.sum().item()


# suppress
from contextlib import suppress
fk = None
with suppress(ImportError):
    import fastkernels as fk
def f(x):
    if fk is None:
        raise ImportError
    return x * x.sum().item()


# importlib spec
import importlib.util
HAS = importlib.util.find_spec("json") is not None
def f(x):
    if HAS:
        x = x * x.sum().item()
    return x


# import_module
import importlib
try:
    fk = importlib.import_module("fastkernels")
except ImportError:
    fk = None
def f(x):
    if fk is None:
        raise ImportError
    return x * x.sum().item()


# version
try:
    import fastkernels as fk
    VERSION = fk.__version__
except ImportError:
    VERSION = None
def f(x):
    if VERSION is None:
        raise ImportError
    return x * x.sum().item()


# object fallback
try:
    from fastkernels import Kernel
except ImportError:
    Kernel = object
def f(x):
    if Kernel is not object:
        return x
    return x * x.sum().item()


# walrus of attributes
try:
    import fastkernels as fk
except ImportError:
    fk = None
scale = getattr(fk, "scale", None)
def f(x):
    if scale is None:
        raise ImportError
    return x * x.sum().item()


# two names in a tuple, absent
try:
    from slowkernels import scale, size
except ImportError:
    scale, size = None, None
def f(x):
    if size is None:
        return x * x.sum().item()
    return x


# suppress, absent
from contextlib import suppress
sk = None
with suppress(ImportError):
    import slowkernels as sk
def f(x):
    if sk is None:
        return x * x.sum().item()
    return x


# suppress around more
from contextlib import suppress
def f(x):
    done = False
    with suppress(ImportError):
        import slowkernels
        done = True
    if not done:
        return x * x.sum().item()
    return x


# a return under suppress
from contextlib import suppress
def f(x):
    with suppress(ImportError):
        import slowkernels
        return x
    return x * x.sum().item()


# in a class body
class Net(nn.Module):
    try:
        import fastkernels as fk
    except ImportError:
        fk = None
    def forward(self, x):
        if self.fk is None:
            return x
        return x * x.sum().item()
net = Net()
def f(x):
    return net(x)

""")
TRACED = programs("""
# torch stays there
try:
    import torch.nn.functional as G
except ImportError:
    G = None
def f(x):
    if G is None:
        return x * x.sum().item()
    return G.relu(x)


# std stays there
try:
    import json
except ImportError:
    json = None
def f(x):
    if json is None:
        return x * x.sum().item()
    return x


# just none
fk = None
def f(x):
    if fk is not None:
        return x * x.sum().item()
    return x


# a package beside, from a package
try:
    from torch.nn.functional import relu as act
except ImportError:
    act = None
def f(x):
    if act is None:
        return x * x.sum().item()
    return act(x)

""")


@pytest.fixture(autouse=True)
def fastkernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that can be imported."""
    package, ops = ModuleType("fastkernels"), ModuleType("fastkernels.ops")
    members = {"scale": lambda x: x * 2, "size": lambda x: 3, "ops": ops, "__version__": "2.0"}
    vars(package).update(members)
    monkeypatch.setitem(sys.modules, "fastkernels", package)
    monkeypatch.setitem(sys.modules, "fastkernels.ops", ops)


@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_a_break_beside_an_optional_package_is_told(
    tmp_path: Path, program: tuple[str, str]
) -> None:
    assert told(tmp_path, HEAD + program[0])


@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_optional_packages_without_a_break_are_silent(
    tmp_path: Path, program: tuple[str, str]
) -> None:
    assert not told(tmp_path, HEAD + program[0])


@pytest.mark.slow
@pytest.mark.parametrize("program", BREAKING.values(), ids=BREAKING.keys())
def test_dynamo_breaks_there(program: tuple[str, str]) -> None:
    assert breaks_in_calls(HEAD + "".join(program), 3)


@pytest.mark.slow
@pytest.mark.parametrize("program", TRACED.values(), ids=TRACED.keys())
def test_dynamo_does_not_break_elsewhere(program: tuple[str, str]) -> None:
    assert not breaks_in_calls(HEAD + "".join(program), 3)
