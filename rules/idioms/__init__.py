"""Rules about formulas that torch has one operator for."""
