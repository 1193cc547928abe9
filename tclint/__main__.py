"""``python -m tclint``."""

from tclint.cli import main

if __name__ == "__main__":
    main()
