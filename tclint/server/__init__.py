"""tclint in the editor: a language server that reports while you type and carries out fixes."""
