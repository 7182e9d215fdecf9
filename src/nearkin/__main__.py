"""``python -m nearkin``, and the command ``nearkin``."""

import gc

gc.set_threshold(200_000)  # imports make 150,000 objects that stay: to look for garbage among them takes time

from nearkin.cli.main import main  # noqa: E402  # a tenth of these objects

if __name__ == "__main__":
    main()
