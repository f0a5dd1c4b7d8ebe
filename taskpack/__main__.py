"""`python -m taskpack` is the command `taskpack`."""

from taskpack.cli.app import main

if __name__ == "__main__":
    main()
