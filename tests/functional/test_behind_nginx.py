"""The service behind a real nginx that encrypts, with the configuration of the guide: sign-in, files, exports."""

from __future__ import annotations

import getpass
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from certificates import write_certificate
from commands import quick_command
from functional.conftest import nearkin_here
from nearkin.collection.collection import Collection
from review_client import DOCUMENTS, LEASE
from team_client import field

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "review-service.md"
UNPACKED = Path(__file__).parents[2] / ".venvs" / "nginx" / "usr" / "sbin"  # by scripts/small_packages.sh
NGINX = shutil.which("nginx") or shutil.which("nginx", path=f"/usr/sbin:/usr/local/sbin:{UNPACKED}")
N_BIG = 5_000
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


def configuration(folder: Path, outer: int, plain: int, inner: int) -> Path:
    """Write a configuration around the block of the guide."""
    found = re.search(r"```nginx\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    block = found[1].replace("127.0.0.1:8000", f"127.0.0.1:{inner}")
    assert str(inner) in block
    cert, key = write_certificate(folder)
    own = "".join(f"{name}_temp_path {folder}/{name}; " for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
    path = folder / "nginx.conf"
    path.write_text(
        f"user {getpass.getuser()}; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        "worker_processes 1; events {}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/body; {own}\n"
        f"server {{ listen 127.0.0.1:{outer} ssl; listen 127.0.0.1:{plain}; ssl_certificate {cert}; "
        f"ssl_certificate_key {key};\n{block}\n}} }}\n"
    )
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, str]]:
    folder = tmp_path_factory.mktemp("nginx")
    with Collection.open(folder / "matter", create=True) as collection:
        collection.add([*DOCUMENTS, *((f"{'big' * 30}{i}", f"{LEASE} {i}") for i in range(N_BIG))], wave="march")
    for name, role in (("ada", "reviewer"), ("vera", "viewer")):
        users = "users", folder / "matter", "add", name, "--role", role, "--users-file", folder / "users.json"
        assert nearkin_here(*users, stdin=b"correct horse battery\n").code == 0
    outer, plain, inner = free_port(), free_port(), free_port()
    url = f"https://localhost:{outer}"
    command = quick_command(
        "serve", folder / "matter", "--port", inner, "--behind-proxy", "127.0.0.1", "--public-url", url,
        "--users-file", folder / "users.json",
    )  # fmt: skip
    nginx = [str(NGINX), "-c", str(configuration(folder, outer, plain, inner)), "-e", str(folder / "error.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service, subprocess.Popen(nginx) as proxy:
        assert service.stdout is not None
        assert url in service.stdout.readline()
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", outer)) == 0:
                    break
            time.sleep(0.05)
        context = ssl.create_default_context(cafile=folder / "cert.pem")
        headers = {"sec-fetch-site": "same-origin", "origin": url, "accept": "text/html"}
        try:
            with httpx.Client(base_url=url, verify=context, headers=headers, timeout=60) as client:
                yield client, f"http://127.0.0.1:{plain}"
        finally:
            proxy.terminate()
            service.terminate()


def sign_in(client: httpx.Client, name: str) -> None:
    page = client.get("/sign-in").text
    sent = {"name": name, "password": "correct horse battery", "csrf": field(page, "csrf")}
    answer = client.post("/sign-in", data={**sent, "going": field(page, "going")})
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text


def test_people_sign_in_send_files_and_export(places: tuple[httpx.Client, str]) -> None:
    client, _ = places
    assert client.get("/list").status_code == 401
    sign_in(client, "ada")
    assert f"{N_BIG + 4:,} documents" in client.get("/").text
    csrf = field(client.get("/check-in").text, "csrf")
    large = LEASE.encode() * ((2 << 20) // len(LEASE))  # more than nginx keeps in memory
    for content in (LEASE.encode(), large):
        answer = client.post("/check-in/file", data={"csrf": csrf}, files={"file": ("lease.txt", content)})
        assert answer.status_code == 303, answer.text
        assert "verdict" in client.get(answer.headers["location"]).text
    too_large = client.post("/check-in/file", data={"csrf": csrf}, files={"file": ("a.txt", b"a" * (65 << 20))})
    assert too_large.status_code == 413
    with client.stream("GET", "/list.csv") as answer:
        assert answer.status_code == 200
        assert sum(part.count(b"\n") for part in answer.iter_bytes()) == N_BIG + 5


def test_a_viewer_changes_nothing(places: tuple[httpx.Client, str]) -> None:
    client, _ = places
    client.cookies.clear()
    sign_in(client, "vera")
    csrf = field(client.get("/list").text, "csrf")
    answer = client.post("/tags", data={"csrf": csrf, "id": "lease", "tag": "mine=yes"})
    assert answer.status_code == 403
    assert "mine=yes" not in client.get("/document?id=lease").text


def test_what_did_not_come_encrypted_is_refused(places: tuple[httpx.Client, str]) -> None:
    _, plain = places
    forged = {"x-forwarded-proto": "https", "x-forwarded-for": "192.0.2.1"}
    answer = httpx.get(f"{plain}/sign-in", headers=forged)
    assert answer.status_code == 403
    assert "must encrypt" in answer.text
