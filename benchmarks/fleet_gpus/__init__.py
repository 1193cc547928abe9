"""A fleet of timed units on one GPU and on two: who ran where and when, and what was measured."""
