# SPDX-License-Identifier: GPL-3.0-or-later
"""The set-up of the environments on networks that are not open: certificates and an index that only pip is told of."""

import functools
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import pytest
from build_zip import ROOT


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the certificate of an authority of our own (`ca.pem`) and one that it gave to localhost."""
    folder = tmp_path_factory.mktemp("certificates")
    new_key = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    authority = ("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Authority")
    request = ("req", *new_key[:3], "-keyout", "host.key", "-out", "host.csr", "-subj", "/CN=localhost")
    signed = ("x509", "-req", "-in", "host.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    (folder / "names").write_text("subjectAltName=DNS:localhost", encoding="utf-8")
    for command in (authority, request, (*signed, "-extfile", "names", "-out", "host.pem")):
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def index(certificates: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a package index with one small package."""
    folder = tmp_path_factory.mktemp("index")
    page = folder / "simple" / "small"
    page.mkdir(parents=True)
    wheel = "small-1.0-py3-none-any.whl"
    (page / "index.html").write_text(f'<a href="{wheel}">{wheel}</a>', encoding="utf-8")
    with zipfile.ZipFile(page / wheel, "w") as archive:
        archive.writestr("small.py", "")
        archive.writestr("small-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small\nVersion: 1.0\n")
        archive.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("small-1.0.dist-info/RECORD", "small.py,,\n")
    with _served(folder, certificates) as port:
        yield f"https://localhost:{port}/simple"


@contextmanager
def _served(folder: Path, certificates: Path) -> Iterator[int]:
    """Serve a folder with TLS; gives the port."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("localhost", 0), handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "host.pem", certificates / "host.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def _with_pip_settings(settings: str, home: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in an otherwise bare process of the Python behind this environment, with a configuration of pip."""
    (home / "pip.conf").write_text(f"[global]\n{settings}\n", encoding="utf-8")
    bare = {
        "HOME": str(home), "PATH": os.pathsep.join([os.path.dirname(environment._uv_path()), os.defpath]),
        "PIP_CONFIG_FILE": str(home / "pip.conf"), "PYTHONPATH": str(ROOT / "tools"), "UV_CACHE_DIR": str(home / "uv"),
    }  # fmt: skip
    base = getattr(sys, "_base_executable", sys.executable)
    return subprocess.run([base, "-c", code], env=bare, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("is_told", [True, False])
def test_uv_trusts_a_certificate_that_only_pip_is_told_of(
    is_told: bool, index: str, certificates: Path, tmp_path: Path
) -> None:
    """And takes packages from the index that pip is told of. Without the certificate it refuses that index."""
    settings = f"index-url = {index}" + f"\ncert = {certificates / 'ca.pem'}" * is_told
    target = tmp_path / "packages"
    call = f"import environment; environment._uv('pip', 'install', '--target', {str(target)!r}, 'small')"
    done = _with_pip_settings(settings, tmp_path, call)
    assert (target / "small.py").exists() == is_told, done.stderr
    assert ("certificate" in done.stderr) != is_told


def test_settings_of_pip_count_as_pip_counts_them(tmp_path: Path) -> None:
    """A setting for `install` stands above one for all commands; several hosts are one list."""
    settings = "proxy = http://first:1\ntrusted-host = one\n    two\n[install]\nproxy = http://second:2"
    code = "import environment, json; print(json.dumps(environment._pip_settings()))"
    done = _with_pip_settings(settings, tmp_path, code)
    found = json.loads(done.stdout)
    assert found["ALL_PROXY"] == "http://second:2"
    assert found["UV_INSECURE_HOST"] == "one two"


def test_downloads_and_caches_stay_in_the_checkout() -> None:
    """So that removing the folder, or `make clean`, leaves nothing behind."""
    assert all(Path(path).is_relative_to(ROOT) for path in environment.CACHES.values())
    assert all(Path(path).relative_to(ROOT).parts[0].startswith(".venv-") for path in environment.CACHES.values())
