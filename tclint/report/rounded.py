"""How measured numbers are written: some digits, and large ones never as a power of ten."""

from __future__ import annotations


def rounded(value: float, digits: int) -> str:
    """``1504`` of 1503.8 for any number of digits up to four, where ``g`` may say ``1.5e+03``."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text
