"""What has to be there before other machines may connect."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
import uvicorn.config

from certificates import write_certificate
from nearkin.errors import NearkinError, ParameterError, SourceError
from nearkin.web.exposure import exposure_of
from nearkin.web.serving import _config

URL = "https://review.example.org"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_certificate(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_nothing(host: str) -> None:
    assert exposure_of(host) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "review.example.org", "127.0.0.2", ""])
def test_another_host_is_refused_without_encryption(host: str) -> None:
    with pytest.raises(ParameterError, match=r"users .* and --tls-cert with --tls-key, or --behind-proxy"):
        exposure_of(host)


@pytest.mark.parametrize(
    "url",
    [
        "http://review.example.org", "review.example.org", "https://", "https://a/b", "https://a?b", "https://u@a",
        "https://a:99999", "https://[", "https://ä.example",
    ],
)  # fmt: skip
def test_a_public_url_is_a_name_over_https(url: str) -> None:
    with pytest.raises(ParameterError, match="--public-url must be https://NAME"):
        exposure_of("0.0.0.0", behind_proxy=["10.0.8.1"], public_url=url)


@pytest.mark.parametrize("proxy", ["0.0.0.0/0", "::/0", "proxy.example.org", "10.0.8.1/24", "", "*"])
def test_a_proxy_is_an_address_and_never_everybody(proxy: str) -> None:
    with pytest.raises(ParameterError, match="--behind-proxy must be the address"):
        exposure_of("127.0.0.1", behind_proxy=["10.0.8.1", proxy], public_url=URL)


def test_options_that_do_not_belong_together(pair: tuple[Path, Path]) -> None:
    cert, key = pair
    for given, said in (
        ({"behind_proxy": ["10.0.8.1"]}, "--behind-proxy needs --public-url"),
        ({"behind_proxy": ["10.0.8.1"], "public_url": URL, "tls_cert": cert, "tls_key": key}, "not both"),
        ({"tls_cert": cert}, "need each other"),
        ({"tls_key": key}, "need each other"),
        ({"tls_cert": cert, "tls_key": key}, "--host 0.0.0.0 needs --public-url"),
    ):
        with pytest.raises(ParameterError, match=said):
            exposure_of("0.0.0.0", **given)
    with pytest.raises(ParameterError, match="--public-url needs"):
        exposure_of("127.0.0.1", public_url=URL)


def test_the_address_that_browsers_open(pair: tuple[Path, Path]) -> None:
    cert, key = pair
    own = exposure_of("192.0.2.7", tls_cert=cert, tls_key=key)
    named = exposure_of("0.0.0.0", tls_cert=cert, tls_key=key, public_url="https://Review.example.org:443/")
    six = exposure_of("2001:db8::1", tls_cert=cert, tls_key=key)
    assert own is not None
    assert named is not None
    assert six is not None
    assert own.url("192.0.2.7", 8443) == "https://192.0.2.7:8443"
    assert own.url("192.0.2.7", 443) == "https://192.0.2.7"
    assert six.url("2001:db8::1", 8443) == "https://[2001:db8::1]:8443"
    assert named.url("0.0.0.0", 8443) == URL


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602, 0o604])
def test_a_key_that_others_may_read_or_change_is_refused(tmp_path: Path, pair: tuple[Path, Path], mode: int) -> None:
    cert, key = pair
    copy = tmp_path / "key.pem"
    copy.write_bytes(key.read_bytes())
    copy.chmod(mode)
    with pytest.raises(SourceError, match="chmod 640"):
        exposure_of("127.0.0.1", tls_cert=cert, tls_key=copy)
    copy.chmod(0o640)  # as Debian's group ssl-cert has it
    assert exposure_of("127.0.0.1", tls_cert=cert, tls_key=copy) is not None


def test_files_that_tls_cannot_use_are_refused(tmp_path: Path, pair: tuple[Path, Path]) -> None:
    cert, key = pair
    missing, encrypted = tmp_path / "missing", tmp_path / "encrypted.pem"
    subprocess.run(
        ["openssl", "ec", "-in", key, "-out", encrypted, "-aes256", "-passout", "pass:secret"],
        check=True,
        capture_output=True,
    )
    encrypted.chmod(0o600)
    for files in ((key, key), (cert, encrypted), (cert, missing), (missing, key)):
        with pytest.raises(NearkinError):
            exposure_of("127.0.0.1", tls_cert=files[0], tls_key=files[1])


async def nothing(scope: object, receive: object, send: object) -> None:
    """Answer no request."""


def test_every_cipher_of_the_service_is_authenticated_and_forward_secret(pair: tuple[Path, Path]) -> None:
    """The server library's own choice has been that of TLS 1.0."""
    config = _config(nothing, exposure_of("127.0.0.1", tls_cert=pair[0], tls_key=pair[1]))
    assert config.ssl is not None
    ciphers = config.ssl.get_ciphers()
    assert {one["protocol"] for one in ciphers} == {"TLSv1.2", "TLSv1.3"}
    assert all(one["aead"] and one["kea"] in ("kx-ecdhe", "kx-any") for one in ciphers), ciphers


@pytest.mark.parametrize(
    ("system", "served"),
    [
        (ssl.TLSVersion.MINIMUM_SUPPORTED, ssl.TLSVersion.TLSv1_2),
        (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2),
        (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
    ],
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated:DeprecationWarning")
def test_tls_1_2_is_the_minimum_whatever_the_system_allows(
    pair: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    system: ssl.TLSVersion,
    served: ssl.TLSVersion,
) -> None:
    """As where Python takes the minimum from the settings of OpenSSL; a system that demands more gets more."""
    made = uvicorn.config.create_ssl_context

    def made_by_system(*arguments: Any, **options: Any) -> ssl.SSLContext:
        context = made(*arguments, **options)
        context.minimum_version = system
        return context

    monkeypatch.setattr(uvicorn.config, "create_ssl_context", made_by_system)
    config = _config(nothing, exposure_of("127.0.0.1", tls_cert=pair[0], tls_key=pair[1]))
    assert config.ssl is not None
    assert config.ssl.minimum_version == served
