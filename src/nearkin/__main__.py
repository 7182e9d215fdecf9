"""``python -m nearkin``."""

from nearkin.cli.main import run

if __name__ == "__main__":
    run()
