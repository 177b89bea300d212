"""Which certificates are trusted: what the environment names instead of the system's."""

import subprocess

import pytest
from fake_web import Answer, Web, make_certificate, tls_context
from programs import run

PAGE = "<!doctype html><title>Tides</title><h1>Tides</h1><p>The harbour empties twice a day, and fills again.</p>"


@pytest.fixture(scope="module", name="certificate")
def one_certificate(tmp_path_factory):
    """A folder as OpenSSL's tools make it, with one certificate in it under the name of its hash."""
    folder = tmp_path_factory.mktemp("trust")
    key, certificate = make_certificate(folder, "127.0.0.1")
    name = subprocess.run(
        ["openssl", "x509", "-noout", "-hash", "-in", certificate], capture_output=True, text=True, check=True
    ).stdout.strip()
    hashed = folder / "hashed"
    hashed.mkdir()
    (hashed / f"{name}.0").write_bytes(certificate.read_bytes())
    return key, certificate, hashed


@pytest.mark.parametrize(
    "variable, place, trusted",
    [
        ("CURL_CA_BUNDLE", "file", True),
        ("SSL_CERT_FILE", "file", True),
        ("SSL_CERT_DIR", "folder", True),
        ("SSL_CERT_DIR", "empty", False),
        ("SSL_CERT_DIR", "", False),  # nothing is named: the system's
    ],
)
def test_what_the_environment_names_is_trusted(certificate, tmp_path, variable, place, trusted):
    key, file, folder = certificate
    value = {"file": file, "folder": folder, "empty": tmp_path, "": ""}[place]
    with Web(tls=tls_context(key, file)) as secure:
        secure.answers["/page"] = Answer(PAGE)
        settings = {"FORAGE_ALLOW_PRIVATE_HOSTS": secure.host, "FORAGE_CACHE_TTL": 0, variable: str(value)}
        completed = run("read", secure.url("/page"), **settings)
    assert ("The harbour empties" in completed.stdout) == trusted
    assert ("TLSError" in completed.stderr) != trusted
