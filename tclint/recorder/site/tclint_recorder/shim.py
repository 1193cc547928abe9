"""What Python runs in place of a script that has another text."""

__import__("sys").modules["tclint_recorder.start"].run_script(globals())
