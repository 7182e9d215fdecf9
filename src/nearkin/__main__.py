"""``python -m nearkin``."""

from nearkin.cli import main

if __name__ == "__main__":
    main()
