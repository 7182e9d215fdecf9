"""Persistent collections: documents added in waves over months, and queries over all of them."""

from __future__ import annotations

import nearkin.store  # noqa: F401  (an extra that is missing is told before anything else fails)
