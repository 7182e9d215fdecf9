"""A real nginx that encrypts, with the configuration of the guide, in front of a service."""

from __future__ import annotations

import contextlib
import getpass
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from certificates import write_certificate
from commands import quick_command

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "guides" / "review-service.md"
UNPACKED = ROOT / ".venvs" / "nginx" / "usr" / "sbin"  # by scripts/small_packages.sh
NGINX = shutil.which("nginx") or shutil.which("nginx", path=f"/usr/sbin:/usr/local/sbin:{UNPACKED}")


@dataclass(frozen=True)
class Proxied:
    """Addresses of a service: through nginx, through nginx without encryption, and past it."""

    url: str
    plain: str
    inner: str
    cert: Path


@contextlib.contextmanager
def served_behind_nginx(folder: Path, collection: Path, users_file: Path) -> Iterator[Proxied]:
    """Serve a collection to its users, as the guide says."""
    outer, plain, inner = (_free_port() for _ in range(3))
    url = f"https://localhost:{outer}"
    cert, key = write_certificate(folder)
    configuration = folder / "nginx.conf"
    configuration.write_text(
        _configuration(
            folder,
            f"listen 127.0.0.1:{outer} ssl; listen 127.0.0.1:{plain}; "
            f"ssl_certificate {cert}; ssl_certificate_key {key};",
            inner,
        )
    )
    options = ("--port", inner, "--behind-proxy", "127.0.0.1", "--public-url", url, "--users-file", users_file)
    command = quick_command("serve", collection, *options)
    nginx = [str(NGINX), "-c", str(configuration), "-e", str(folder / "error.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service, subprocess.Popen(nginx) as proxy:
        try:
            assert service.stdout is not None
            assert url in service.stdout.readline()
            _wait_for(outer)
            yield Proxied(url, f"http://127.0.0.1:{plain}", f"http://127.0.0.1:{inner}", cert)
        finally:
            proxy.terminate()
            service.terminate()


def _configuration(folder: Path, listening: str, inner: int) -> str:
    """Return a configuration around the block of the guide."""
    found = re.search(r"```nginx\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    block = found[1].replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
    assert str(inner) in block
    own = "".join(f"{name}_temp_path {folder}/{name}; " for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
    return (
        f"user {getpass.getuser()}; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        "worker_processes 1; events {}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; {own}\nserver {{ {listening}\n{block}\n}} }}\n"
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
