"""tclint from Python: check files, record a block of the own process, a notebook's cell.

All of it is reached from ``tclint`` itself, which loads it when it is asked for.
"""
