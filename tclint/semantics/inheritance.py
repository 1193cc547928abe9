"""The order in which the bases of a class are asked."""

from __future__ import annotations

from collections.abc import Sequence

from tclint.semantics.symbols import ClassInfo


def linearised(
    orders: Sequence[Sequence[ClassInfo | str]], bases: Sequence[ClassInfo | str]
) -> Sequence[ClassInfo | str]:
    """Python's method resolution order (C3) of a class with these bases, itself left out.

    ``orders`` are those of the bases. Where they contradict each other, which Python refuses and
    names that were resolved wrongly can bring about, it is one after the other.
    """
    if len(orders) == 1:
        return orders[0]
    pending = [order for order in (*orders, bases) if order]
    found: list[ClassInfo | str] = []
    while pending:
        behind = {base for order in pending for base in order[1:]}
        head = next((order[0] for order in pending if order[0] not in behind), None)
        if head is None:
            return list(dict.fromkeys(base for order in orders for base in order))
        found.append(head)
        shorter = (order[1:] if order[0] == head else order for order in pending)
        pending = [order for order in shorter if order]
    return found
