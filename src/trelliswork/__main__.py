"""The program as a module: ``python -m trelliswork``."""

from trelliswork.cli import main

if __name__ == "__main__":
    main()
