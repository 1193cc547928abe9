"""What covers several values: methods of objects, and long tables of functions."""

from __future__ import annotations

import ast
from functools import reduce
from pathlib import Path

from tclint.config import Settings
from tclint.semantics.body import Body
from tclint.semantics.bounds import Cuts
from tclint.semantics.lattice import ALTERNATIVES, join, options
from tclint.semantics.site import Facts, Site
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    Class,
    External,
    Function,
    Mapping,
    Object,
    Static,
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
    members: list[Value] = [function(f"f{number}") for number in range(ALTERNATIVES.most + 2)]
    members[ALTERNATIVES.most - 1] = Class(CLASS)
    for count in range(2, len(members) + 1):
        grown, at_once = reduce(lambda a, b: join((a, b)), members[:count]), join(members[:count])
        assert grown == at_once
        assert isinstance(grown, Union)
        assert isinstance(at_once, Union)
        assert grown.options == at_once.options


def test_a_table_of_very_many_keeps_the_first_and_says_that_there_are_more() -> None:
    table = [function(f"f{number}") for number in range(ALTERNATIVES.most)]
    cuts = Cuts()
    cuts.place = Site(Body(MODULE, None, TREE), None, DEFINITION, Facts(), (), Settings())
    full = join(table)
    assert not cuts.found
    longer = join((full, function("one more")))
    assert options(longer) == (*table, UNKNOWN)
    assert [bound for bound, _ in cuts.found] == [ALTERNATIVES]
    assert join((longer, function("another"))) == longer


def test_constants_are_left_out_without_a_word() -> None:
    cuts = Cuts()
    cuts.place = Site(Body(MODULE, None, TREE), None, DEFINITION, Facts(), (), Settings())
    rows = [Mapping(((f"key{number}", constant(number)),)) for number in range(100)]
    kinds = [function("f"), *rows, NONE, External("torch.relu")]
    assert options(join(kinds)) == (kinds[0], NONE, kinds[-1], UNKNOWN)
    assert not cuts.found
