"""The literal that takes the place of a message states what the message states, or is not there."""

from __future__ import annotations

import ast

import pytest

from tclint_rules.lib.facts.messages import stated


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ('f"invalid total count {n}"', "invalid total count"),
        ('f"x must be positive, got {x.min()}"', "x must be positive"),
        ('f"the input has to be finite but got {x}."', "the input has to be finite"),
        ('f"size mismatch ({a} vs {b})"', "size mismatch"),
        ('"values out of range: " + str(x)', "values out of range"),
        ('"bad values. Found %s" % x', "bad values"),
        ('f"expected {a} dims"', None),
        ('f"x has {n} rows, but must have 4"', None),
        ('f"length is not divisible by {k}"', None),
        ('f"loss is {loss}"', None),
        ('f"{limit} of {x}"', None),
        (
            'f"must be in [x0, y0] (corner) format, but got {x}"',
            "must be in [x0, y0] (corner) format",
        ),
        ('f"no mask: all rows are hidden, got {x}"', "no mask: all rows are hidden"),
        ('f"bad values, largest value: {x}"', "bad values"),
        ('f"not in (0, 1): {x}"', "not in (0, 1)"),
        ('f"out of range (min {a}, max {b})"', "out of range"),
        ('f"`a, b` differ, a: {a}"', "`a, b` differ"),
        (
            'f"outside of the sequence, but found: starts: {x}, ends: {y}"',
            "outside of the sequence",
        ),
        ('f"must be in range (0, {n - 1})"', None),
        ("'features: %s, counts: %s' % (str(x.shape), str(y))", None),
        ('f"{x}"', None),
        ('f"negative: {x.min()}"', "negative"),
        ('f"negative, got {x.min()}"', "negative"),
        ('f"shape {x.shape}"', None),
        ('f"x: {x}"', None),
        ('f"it\'s {x}"', None),
        ('f"bad `{x}`"', None),
        ('"%s in x, %d" % x.shape', None),
        ('"bad {}".format(x)', "bad"),
        ('"bad }".format(x)', None),
        ('["bad", x]', None),
        ('"-" * 3', "---"),
    ],
)
def test_a_message_is_cut_before_its_values_where_the_rest_stands_by_itself(
    message: str, text: str | None
) -> None:
    assert stated(ast.parse(message, mode="eval").body) == text
