"""``python -m allocert``: the program."""

from .program import main

if __name__ == "__main__":
    main()
