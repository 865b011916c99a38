"""`python -m wiser` is `wiser`."""

from wiser.cli import main

if __name__ == "__main__":
    main()
