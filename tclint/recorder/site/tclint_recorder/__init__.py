"""What runs in each Python process of a recorded command.

Until the program has loaded torch, nothing of the standard library is imported here but what
Python itself has loaded: a program's own ``json.py`` stays the one that it gets.
"""
