"""TCL221: the first call of a module builds a tensor that the others find."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import ModuleWrite
from tclint.semantics.lattice import options
from tclint.semantics.values import Tensor

from .attributes import guard_of
from .lazily_built import build_in_init

_CALLS = "[(torch.ones(3, 3),) for _ in range(3)]"


class LazyTensorInForward(Rule[ModuleWrite]):
    """A tensor is built by the first call, and kept on the module for the next ones.

    ## What it does
    Reports `if self.mask is None: self.mask = ...` and `if not hasattr(self, "mask")` around an
    assignment of a tensor in compiled methods of modules.

    ## Why it hurts
    What the first call compiles is of no use to the second, which finds the tensor there and
    compiles again: the whole function is compiled twice, and a compiled region that is warmed up
    with one call is still cold.

    ## Fix safety
    A tensor that torch makes of literals and of attributes that only `__init__` sets is made at
    the end of `__init__`. Where its device is an input's, it becomes a buffer that is not saved.
    `state_dict` keeps its keys. Never safe: it is made with the defaults of another time. Declined
    where it depends on the call or on random numbers, and where another method sets it.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL221"
    name = "lazy-tensor-in-forward"
    summary = "a tensor that the first call builds makes the second call compile again"
    on = ModuleWrite
    effects = (Effect.RECOMPILE,)
    examples = (
        Bad(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
        self.size = 3

    def forward(self, x):
        if self.mask is None:
            self.mask = torch.tril(torch.ones(self.size, self.size, device=x.device))
        return x * self.mask
""",
            _CALLS,
            unsafe="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 3
        self.register_buffer("mask", torch.tril(torch.ones(self.size, self.size)), persistent=False)

    def forward(self, x):
        return x * self.mask
""",
            proves=("recompile",),
        ),
        Untouched(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = None

    def forward(self, x):
        if self.first is None:
            self.first = x + 1
        return x * self.first
""",
            "known only when the module is called",
            _CALLS,
            proves=("recompile",),
            title="an input is kept",
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(3, 3).tril(), persistent=False)

    def forward(self, x):
        return x * self.mask
""",
            _CALLS,
            title="built in `__init__`",
        ),
    )

    def check(self, event: ModuleWrite) -> Finding | None:
        """Report tensors that are set where they were not before."""
        guard = guard_of(event)
        if guard is None or not any(isinstance(kind, Tensor) for kind in options(event.value)):
            return None
        return Finding(
            f"`{event.site.text(event.target)}` is built by the first call: the second one "
            "compiles again",
            build_in_init(event, guard),
        )
