"""Rules about the precision that a program computes with."""
