"""``python -m nearkin.cli``."""

from nearkin.cli import main

main()
