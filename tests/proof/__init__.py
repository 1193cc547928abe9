"""Proofs by running: what the examples of a rule show when torch compiles them."""
