"""What the analysis reports to rules: typed events, each at one place of one analysed function.

The interpreter walks a function once and says what it saw; rules judge. An event carries the
abstract values of its operands and its ``site``: where it is, how the compiled region was
reached, and what surrounds it.
"""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Literal

from tclint.semantics.records import record
from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.training import StepBody
from tclint.semantics.values import UNKNOWN, Object, Tensor, Value

Deciding = Literal[
    "if", "while", "ternary", "and", "or", "not", "compare", "match", "any", "all", "max", "min",
    "sorted", "in", "assert",
]  # fmt: skip
"""What asks for the truth of a tensor; a chain of comparisons is ``"compare"``."""
LoopedOver = Literal["numpy", "tensor", "shape", "data"]
"""Where the elements of a loop come from."""
Sink = Literal["print", "logger", "logging", "warnings", "stdout", "tqdm", "bar"]
"""What writes output."""


@record(frozen=True, eq=False)
class Event:
    """Base of all events: ``node`` is the syntax to report."""

    node: ast.expr | ast.stmt
    site: Site


@record(frozen=True, eq=False)
class HostRead(Event):
    """A tensor's value is read into Python.

    ``via`` is ``"item"``, ``"tolist"``, ``"numpy"``, ``"float"``, ``"int"``, ``"bool"``,
    ``"complex"``, ``"format"`` (f-string, ``str()``, ``%``), ``"math"`` (``math.f(t)``),
    ``"range"``, ``"contains"``, ``"index"`` (by a 0-d tensor), ``"slice"``, ``"number"`` (a size,
    a dimension, a rate: what torch takes as a number only), ``"repeat"`` (how often a list is
    repeated), ``"given"`` (by a function that is passed on, as to ``map``) or the name of a
    function that reads (``equal``, ``allclose``). ``source`` is the tensor's expression, ``tensor``
    its value. ``sometimes`` is true where it is a tensor only on some paths, and a number else.
    """

    via: str
    source: ast.expr
    tensor: Tensor
    sometimes: bool = False


@record(frozen=True, eq=False)
class TensorAssert(Event):
    """``assert`` whose test reads a tensor; ``node`` is the statement.

    ``test`` is the statement's test; the values of its parts are asked from ``site.value``.
    """

    statement: ast.Assert


@record(frozen=True, eq=False)
class ObjectAssert(Event):
    """``assert`` whose test ends with the truth of an object, or of what holds tensors or objects.

    ``node`` is what is asked last, ``holds`` is ``"tensor"`` or ``"object"``.
    """

    statement: ast.Assert
    holds: str


@record(frozen=True, eq=False)
class TensorBranch(Event):
    """Python decides on a tensor's value.

    ``test`` is the expression whose truth is asked. ``sometimes`` is true where it is a tensor only
    on some paths (``self.training and t < p``).
    """

    kind: Deciding
    test: ast.expr
    sometimes: bool = False


@record(frozen=True, eq=False)
class Loop(Event):
    """A ``for`` statement or comprehension clause over something worth judging.

    ``over`` is ``"numpy"`` (``np.arange``, ``np.linspace``...), ``"tensor"`` (rows), ``"shape"`` (a
    range or list whose length is a tensor's size) or ``"data"`` (a range bounded by a host read).
    ``breaking_uses`` are the uses of a numpy loop variable where Python needs a number.
    """

    over: LoopedOver
    target: ast.expr
    iterable: ast.expr
    breaking_uses: tuple[ast.expr, ...] = ()


@record(frozen=True, eq=False)
class TensorIndex(Event):
    """A tensor is indexed by a Python sequence or a range made from a shape.

    ``items`` are the index expressions of interest with what they are: ``"range"``,
    ``"list(range)"``, ``"numpy"`` or ``"list"``. ``store`` is true on the left of an assignment.
    """

    subscript: ast.Subscript
    tensor: Tensor
    items: tuple[tuple[ast.expr, str], ...]
    store: bool


@record(frozen=True, eq=False)
class NumberNeeded:
    """A place (``use``, at ``site``) where Python needs a number that numpy or ``random`` made.

    ``why`` is ``"truth"``, ``"not"``, ``"member"`` (of ``in``), ``"range"`` (a builtin that takes
    nothing but numbers), ``"text"``, ``"key"``, ``"torch"`` (a size, a position in a tensor),
    ``"slice"``, ``"python"`` (``int()``, a position in a list), ``"arithmetic"`` (with nothing but
    numbers) or ``"call"`` (the call itself). Of drawn numbers alone also ``"hash"``
    (looked for in a set or dict, where Dynamo never finds it), ``"method"`` (of a number),
    ``"order"`` (of `sorted`), ``"power"`` (the builtin `pow`), ``"repeats"`` (of
    `repeat_interleave`) and ``"scale"`` (of `interpolate`).
    """

    use: ast.expr
    why: str
    site: Site


@record(frozen=True, eq=False)
class NumpyCall(Event):
    """A numpy function is called in a region: ``function`` is dotted (``numpy.prod``).

    ``needs`` is where Python needs the number that it gives, in the order met.
    """

    function: str
    call: ast.Call
    arguments: tuple[Value, ...]
    needs: tuple[NumberNeeded, ...] = ()


@record(frozen=True, eq=False)
class DrawnNumberNeeded(Event):
    """Python needs a number that ``random`` drew in the region; ``node`` is where it does first.

    ``function`` is dotted (``random.randint``), ``call`` the draw. ``needs`` are all such places,
    in the order met. The first is no decision: that is a `TensorBranch`.
    """

    function: str
    call: ast.Call
    needs: tuple[NumberNeeded, ...]


@record(frozen=True, eq=False)
class ArrayRead(Event):
    """A number of a numpy array is needed by Python, or all of them; Dynamo has a tensor there.

    ``via`` is ``"item"``, ``"tolist"``, ``"number"`` (an index, ``int()``, ``range()``, ``math``)
    or the name of a function that answers with a bool (``allclose``).
    """

    via: str


@record(frozen=True, eq=False)
class SideEffectCall(Event):
    """Output is written from a region.

    ``sink`` is ``"print"``, ``"logger"`` (a method of ``logging.Logger`` or of an object used like
    one), ``"logging"`` (module functions), ``"warnings"``, ``"stdout"``, ``"tqdm"`` (a progress bar
    is made) or ``"bar"`` (a method of one).
    ``method`` is the last name called (``warning``). ``statement`` is the expression statement,
    when the call stands alone.
    """

    sink: Sink
    method: str
    call: ast.Call
    statement: ast.Expr | None


@record(frozen=True, eq=False)
class TensorFactory(Event):
    """A tensor is created from Python data or sizes in a region.

    ``function`` is dotted (``torch.tensor``). ``moved`` is the ``.to(...)``/``.cuda()`` call around
    it, if any, and ``destination`` that call's device expression. ``constant`` is true when the
    content is the same on every step (literals, or attributes that only ``__init__`` sets).
    """

    function: str
    call: ast.Call
    moved: ast.Call | None
    destination: ast.expr | None
    constant: bool


@record(frozen=True, eq=False)
class ModuleConstruction(Event):
    """An ``nn.Module`` or ``nn.Parameter`` is built inside a region.

    ``function`` is dotted. ``has_parameters`` is None when that is not known. ``constant`` is true
    when all arguments are the same on every step.
    """

    function: str
    call: ast.Call
    has_parameters: bool | None
    constant: bool


@record(frozen=True, eq=False)
class DynamicShape(Event):
    """An operation whose result's shape depends on the tensor's data.

    ``via`` is ``"mask"`` (indexing by a boolean tensor) or the function's name (``nonzero``);
    ``gb_id`` is what Dynamo prints for it. ``store`` is true on the left of an assignment.
    ``named`` is true where nothing but a parameter's name says that it is a mask.
    """

    via: str
    gb_id: str
    source: ast.expr
    tensor: Tensor
    store: bool = False
    named: bool = False


@record(frozen=True, eq=False)
class TensorWrite(Event):
    """An attribute of a tensor is assigned: ``requires_grad``, ``data``, ``grad``.

    ``node`` is the target, or a call of ``setattr``; ``owner`` the expression of the tensor.
    """

    attribute: str
    owner: ast.expr
    tensor: Tensor


@record(frozen=True, eq=False)
class ContextEntered(Event):
    """A ``with`` statement of a region enters a library's context manager (a dotted name)."""

    manager: str
    statement: ast.With | ast.AsyncWith


@record(frozen=True, eq=False)
class LrChange:
    """A place where an optimizer's learning rate changes: a scheduler, or a write to its groups."""

    kind: Literal["scheduler", "write"]
    name: str


@record(frozen=True, eq=False)
class OptimizerInit(Event):
    """A ``torch.optim`` optimizer is made; everything the project does with it is attached.

    ``optimizer`` is the class's dotted name, ``lr`` the learning-rate expression (None: default).
    ``compiled_step`` is true when its ``step`` runs in a compiled region.
    """

    optimizer: str
    call: ast.Call
    lr: ast.expr | None
    lr_value: Value
    keywords: dict[str, ast.expr]
    compiled_step: bool
    lr_changes: tuple[LrChange, ...]


@record(frozen=True, eq=False)
class CompileCall(Event):
    """``torch.compile(...)``, ``@torch.compile``, ``module.compile(...)``.

    ``keywords`` are the keyword arguments by name, as they are written, and ``spread`` those that
    ``**`` passes, where it is known what the dict holds; ``target`` is the value compiled.
    ``discarded`` is true when the call is a statement of its own and its result is lost.
    """

    call: ast.expr
    keywords: dict[str, ast.expr]
    target: Value = UNKNOWN
    discarded: bool = False
    spread: dict[str, Value] = field(default_factory=dict)


@record(frozen=True, eq=False)
class CompiledOutputUsed(Event):
    """Outside of compiled code, a project function works on the output of something compiled.

    ``function`` is its qualified name; ``operations`` counts the torch calls that it makes.
    """

    function: str
    operations: int


@record(frozen=True, eq=False)
class Call(Event):
    """Any other call in a region of something outside the project.

    ``function`` is dotted: a function (``torch.distributed.all_reduce``, ``time.time``) or a method
    of a known class (``torch.Tensor.nonzero``); ``owner`` is the object for methods.
    """

    function: str
    call: ast.Call
    arguments: tuple[Value, ...] = ()
    owner: Value | None = None


@record(frozen=True, eq=False)
class ModuleWrite(Event):
    """An attribute of a module (``self``) is assigned in a region."""

    owner: Object
    attribute: str
    target: ast.Attribute
    value: Value = field(default=UNKNOWN)
    augmented: bool = False


@record(frozen=True, eq=False)
class ContainerGrown(Event):
    """A list or dict that outlives the call gets another member in a region.

    ``container`` is its expression: an attribute of a module (``kept`` is ``"module"``) or a
    variable of the file (``"global"``). ``method`` is what is called (``append``), empty for
    ``d[key] = value``, where ``key`` is the key's value.
    """

    container: ast.expr
    kept: str
    method: str = ""
    key: Value = UNKNOWN


@record(frozen=True, eq=False)
class NumberCounted(Event):
    """Something is added to what an attribute or an item was, in a region: ``d["n"] += 1``.

    ``value`` is what it was before, ``step`` what is added.
    """

    target: ast.Attribute | ast.Subscript
    value: Value
    step: ast.expr


@record(frozen=True, eq=False)
class ClassWrite(Event):
    """An attribute of a class of the project (not of an instance) is assigned in a region."""

    owner: ClassInfo
    attribute: str
    target: ast.Attribute


@record(frozen=True, eq=False)
class FunctionWrite(Event):
    """An attribute of a function is assigned in a region that did not define the function."""

    attribute: str


@record(frozen=True, eq=False)
class EnvironmentWrite(Event):
    """An environment variable is set or removed in a region: ``os.environ[...] = x``."""

    target: ast.Subscript


@record(frozen=True, eq=False)
class GlobalsDeclared(Event):
    """A ``global`` statement in a region; ``names`` are the variables that it declares."""

    names: tuple[str, ...]


@record(frozen=True, eq=False)
class NameUsed(Event):
    """A name of torch that moved, is deprecated, or is a setting: anywhere in a file.

    ``name`` is dotted, following imports; ``expression`` spells it, and ``call`` is the call of it,
    if it is called. Imports do not count.
    """

    name: str
    expression: ast.expr
    call: ast.Call | None = None


@record(frozen=True, eq=False)
class TrainingCall(Event):
    """A method or function is called by a loop that runs ``backward()``; ``name`` is its last part.

    ``loop`` is the innermost loop that holds both, outside of what that loop calls, or a function
    that is a training step or part of one. ``each_step`` is true where all of that is done in each
    step; a loop over epochs runs ``backward()``, but only in the loop inside.
    """

    name: str
    call: ast.Call
    loop: StepBody
    each_step: bool = False


@record(frozen=True, eq=False)
class ParameterLoop(Event):
    """A ``for`` statement, or a list that is made, in a file that goes over a module's tensors.

    What it goes over is for rules to see; that there is arithmetic inside is all that is known.
    ``body`` is the part of a training step that it stands in, if it does.
    """

    loop: ast.For | ast.ListComp | ast.GeneratorExp
    body: StepBody | None = None
