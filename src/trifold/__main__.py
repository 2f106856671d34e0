"""`python -m trifold` is the command line."""

from trifold.commands import main

if __name__ == "__main__":
    main()
