"""The literal that stands for a message in compiled code states what the message states."""

from __future__ import annotations

import ast

import pytest

from tclint_rules.lib.facts.messages import plain_text


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ('f"invalid total count {n}"', "invalid total count"),
        ('f"x must be positive, got {x.min()}"', "x must be positive"),
        ('f"the input has to be finite but got {x}."', "the input has to be finite"),
        ('f"size mismatch ({a} vs {b})"', "size mismatch"),
        ('"values out of range: " + str(x)', "values out of range"),
        ('"bad values. Found %s" % x', "bad values"),
        ('f"expected {a} dims"', "expected `a` dims"),
        ('f"x has {n} rows, but must have 4"', "x has `n` rows, but must have 4"),
        ('f"length is not divisible by {k}"', "length is not divisible by `k`"),
        ('f"loss is {loss}"', "loss is `loss`"),
        ('f"{limit} of {x}"', "`limit` of `x`"),
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
        ('f"must be in range (0, {n - 1})"', "must be in range (0, `n - 1`)"),
        ("'features: %s, counts: %s' % (str(x.shape), str(y))", None),
        ('f"{x}"', None),
    ],
)
def test_a_message_is_cut_before_its_values_where_it_stands_without(
    message: str, text: str | None
) -> None:
    assert plain_text(ast.parse(message, mode="eval").body) == text
