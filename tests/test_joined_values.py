"""What covers several values: methods of objects, and long tables of functions."""

from __future__ import annotations

import ast
from functools import reduce
from pathlib import Path

from tclint.semantics.lattice import MAX_REGISTRY, join
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    Class,
    Function,
    Object,
    Static,
    Tensor,
    Union,
    Value,
    constant,
)
from tclint.source.file import SourceFile

TEXT = "class C:\n    def m(self): ...\n"
TREE = ast.parse(TEXT)
MODULE = ModuleInfo("m", SourceFile.from_text(Path("m.py"), TEXT), TREE)
DEFINITION = TREE.body[0]
assert isinstance(DEFINITION, ast.ClassDef)
METHOD = DEFINITION.body[0]
assert isinstance(METHOD, ast.FunctionDef)
CLASS = ClassInfo(MODULE, "C", DEFINITION, ())


def function(name: str, bound: Value | None = None) -> Function:
    return Function(FunctionInfo(MODULE, name, METHOD), bound)


def made(value: Value) -> Object:
    return Object("C", CLASS, fields=(("held", value),))


def test_a_method_of_two_objects_that_were_seen_to_be_made_is_one_method() -> None:
    info = FunctionInfo(MODULE, "C.m", METHOD, CLASS)
    one, two = Function(info, made(constant(1))), Function(info, made(constant(2)))
    either = Function(info, made(Static("int")))
    assert join([one, two]) == either
    assert join([one, NONE, two]) == Union((NONE, either), frozenset((NONE, either)))


def test_methods_of_other_objects_stay_apart() -> None:
    info = FunctionInfo(MODULE, "C.m", METHOD, CLASS)
    site = ast.Name("x")
    one, two = Function(info, Object("C", CLASS)), Function(info, Object("C", CLASS, site))
    assert isinstance(join([one, two]), Union)
    others = [function("f", made(constant(1))), function("g", made(constant(2)))]
    assert isinstance(join(others), Union)


def test_a_table_that_grows_is_what_it_is_at_once() -> None:
    members: list[Value] = [function(f"f{number}") for number in range(MAX_REGISTRY - 1)]
    members.append(Class(CLASS))
    for count in range(2, MAX_REGISTRY + 1):
        grown, at_once = reduce(lambda a, b: join((a, b)), members[:count]), join(members[:count])
        assert grown == at_once
        assert isinstance(grown, Union)
        assert isinstance(at_once, Union)
        assert grown.options == at_once.options


def test_a_table_ends_with_too_many_members_and_with_others() -> None:
    table = join([function(f"f{number}") for number in range(MAX_REGISTRY)])
    assert join((table, function("one more"))) is UNKNOWN
    short = join([function(f"f{number}") for number in range(10)])
    assert join((short, Tensor())) is UNKNOWN
