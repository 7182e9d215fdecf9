"""A certificate for this machine, made by the command openssl, which signs itself."""

from __future__ import annotations

import subprocess
from pathlib import Path


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for localhost and 127.0.0.1, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(cert)]
    subprocess.run(["openssl", "req", "-x509", *kind, *names, *files], check=True, capture_output=True)
    key.chmod(0o600)
    return cert, key
