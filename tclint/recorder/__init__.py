"""What records a command from inside its processes.

The folder ``site`` is put first on the PYTHONPATH of the command. What is in it runs under any
Python that the command starts, and so needs the standard library, and torch once that is loaded.
"""
