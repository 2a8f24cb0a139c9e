# SPDX-License-Identifier: GPL-3.0-or-later
"""The set-up of the environments where little is there: behind a proxy, without git, in any folder, with any Python.

Without a network: what uv would download is played, and the index is a folder of our own.
"""

import functools
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import progress
import pytest
import tasks
from build_zip import ROOT
from pytest import CaptureFixture, MonkeyPatch

pytestmark = pytest.mark.newest


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
    """Run code in an otherwise bare process of the Python behind this environment, with a configuration of pip.

    Without settings, that of this machine does not count either.
    """
    (home / "pip.conf").write_text(f"[global]\n{settings}\n", encoding="utf-8")
    bare = {
        "HOME": str(home), "PATH": os.pathsep.join([os.path.dirname(environment._uv_path()), os.defpath]),
        "PIP_CONFIG_FILE": str(home / "pip.conf") if settings else os.devnull, "PYTHONPATH": str(ROOT / "tools"),
        "UV_CACHE_DIR": str(home / "uv"),
    }  # fmt: skip
    base = getattr(sys, "_base_executable", sys.executable)
    return subprocess.run([base, "-c", code], env=bare, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("is_told", [True, False])
def test_uv_trusts_a_certificate_told_to_pip(is_told: bool, index: str, certificates: Path, tmp_path: Path) -> None:
    """And takes packages from the index that pip is told of. Without the certificate it refuses that index."""
    settings = f"index-url = {index}" + f"\ncert = {certificates / 'ca.pem'}" * is_told
    target = tmp_path / "packages"
    call = f"import environment; environment._uv('pip', 'install', '--target', {str(target)!r}, 'small')"
    done = _with_pip_settings(settings, tmp_path, call)
    assert (target / "small.py").exists() == is_told, done.stderr
    assert ("certificate" in done.stderr) != is_told


@pytest.mark.parametrize("is_stored", [True, False])
def test_pip_trusts_the_systems_certificates(is_stored: bool, index: str, certificates: Path, tmp_path: Path) -> None:
    """An old pip brings its own and no others: it cannot get uv through a proxy that only the system knows."""
    store = certificates / "ca.pem" if is_stored else tmp_path / "none.pem"
    target = tmp_path / "packages"
    call = f"""
import environment, subprocess, sys
environment._SYSTEM_CERTIFICATES = ({str(store)!r},)
install = ["-m", "pip", "install", "-q", "--retries", "0", "--target", {str(target)!r}, "--index-url", {index!r}]
subprocess.run([sys.executable, *install, "small"], env=environment._pip_variables())
"""
    done = _with_pip_settings("", tmp_path, call)
    assert (target / "small.py").exists() == is_stored, done.stderr


@pytest.mark.parametrize("setting", ["", "cert = /from/pip.pem"])
@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", ""])
def test_a_certificate_that_is_named_stands_above_the_store(setting: str, variable: str, tmp_path: Path) -> None:
    """One that pip is told of stays with pip; one in a variable goes to whoever does not read that variable."""
    code = f"""
import environment, json, os
environment._SYSTEM_CERTIFICATES = (environment.__file__,)
os.environ.update({ {variable: "/from/variable.pem"} if variable else {} })
print(json.dumps([environment._pip_variables().get("PIP_CERT"), environment._uv_variables().get("SSL_CERT_FILE")]))
"""
    pip, uv = json.loads(_with_pip_settings(setting, tmp_path, code).stdout)
    named = "/from/variable.pem" if variable else None
    if setting:
        assert pip is None
        assert uv == (named if variable == "SSL_CERT_FILE" else "/from/pip.pem")
    else:
        assert pip == (named or environment.__file__)
        assert uv == named


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
    assert all(Path(path).relative_to(ROOT).parts[0].startswith(".venv-") for path in environment.CACHES.values())


def test_what_uv_remembers_stays_in_the_checkout(tmp_path: Path) -> None:
    """Also where `environment` is used alone, without the variables that the tasks set for all."""
    code = "import environment; print(environment._uv_variables()['UV_CACHE_DIR'])"
    bare = {"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(ROOT / ".venv-cache")


def test_the_desktop_may_have_a_cache_for_all_programs(tmp_path: Path) -> None:
    """What the commands start keeps to the checkout all the same; a cache that is named for uv alone counts."""
    code = """
import os, runpy, sys
sys.argv[1:] = ["--help"]
try:
    runpy.run_path("tools/tasks.py", run_name="__main__")
except SystemExit:
    print(os.environ["XDG_CACHE_HOME"], os.environ["UV_CACHE_DIR"], sep="\\n")
"""
    told = {"XDG_CACHE_HOME": str(tmp_path), "UV_CACHE_DIR": str(tmp_path / "uv"), "PYTHONPATH": str(ROOT / "tools")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **told}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-2:] == [environment.CACHES["XDG_CACHE_HOME"], str(tmp_path / "uv")]




def test_downloads_are_said_and_counted(tmp_path: Path, monkeypatch: MonkeyPatch, capfd: CaptureFixture[str]) -> None:
    """The amounts for all together, and how far it has come."""
    new = environment.Environment("new", ("3.13",), ("bpy",), "bpy", download=470, size=1200)
    environment.announce([new, new])
    assert "940 MB to download, 2400 MB on the disk, about 3 min" in capfd.readouterr().out
    monkeypatch.setattr(progress, "_INTERVAL", 0.05)
    with progress.progress("new", tmp_path, 1200):
        (tmp_path / "part").write_bytes(bytes(3_000_000))
        time.sleep(0.3)
    assert "new: 3 of about 1200 MB are here, after 0 s." in capfd.readouterr().out


def test_where_no_python_fits_uv_brings_one_into_it(monkeypatch: MonkeyPatch, capsys: CaptureFixture[str]) -> None:
    """That of the newest Blender, and how much it is, is said before. If it fails, the reason and what to do."""
    commands: list[tuple[str, ...]] = []
    said: list[str] = []

    def uv(*arguments: str, **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(arguments)
        if arguments[:2] == ("python", "install"):
            said.append(capsys.readouterr().out)
        return subprocess.CompletedProcess(arguments, 1, "", "error: no\ncause: the line is dead")

    monkeypatch.setattr(environment, "_uv", uv)
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    monkeypatch.setattr(environment.Environment, "ready", False)
    environment.find_python.cache_clear()
    with pytest.raises(environment.SetupError, match=r"the line is dead.*PYTHON=/path/to/python"):
        tasks.best_blender.__wrapped__()
    environment.find_python.cache_clear()
    install = next(words for words in commands if words[:2] == ("python", "install"))
    assert install[-1] == "3.13"
    assert Path(install[install.index("--install-dir") + 1]).is_relative_to(ROOT)
    assert "MB to download" in said[0]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The commands without git and the rest, in a folder whose name needs quotes."""
    folder = tmp_path / "it's a folder"
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Makefile", folder)
    return folder


def _all_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_clean_leaves_what_was_there_and_nothing_else(copy: Path, tmp_path: Path) -> None:
    """All that git ignores goes, even of an environment that is a link to another: only the link."""
    before = _all_in(copy)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    made = [name.rstrip("/").replace("*", "-made") for name in ignored if name.endswith("/")]
    assert {".venv-made", "build", "dist", "examples/out", ".hypothesis"} < set(made)
    for name in (*made, ".venv-docs", ".venv-cache", ".venv-uv", "build/site", "tools/deep/__pycache__"):
        (copy / name).mkdir(parents=True, exist_ok=True)
        (copy / name / "file").touch()
    (copy / "examples" / "kept").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    (copy / ".venv-link").symlink_to(tmp_path / "other", target_is_directory=True)
    subprocess.run([sys.executable, "tools/tasks.py", "clean"], cwd=copy, check=True)
    assert _all_in(copy) - before == {"examples", "examples/kept", "tools/deep"}
    assert (tmp_path / "other" / "file").exists()


def _program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def _make(copy: Path, programs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make with these programs and no others but the shell's."""
    bare = {"PATH": str(programs), "HOME": str(copy)}
    make = shutil.which("make")
    assert make
    return subprocess.run([make, *words], cwd=copy, env=bare, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make, as on Windows")
def test_make_passes_over_pythons_that_are_too_old(copy: Path, tmp_path: Path) -> None:
    """And takes the one that it is given, whatever the folders are called."""
    (copy / "build").mkdir()
    _program(tmp_path / "programs" / "python3", "exit 1")
    found = _make(copy, tmp_path / "programs", "clean")
    assert found.returncode
    assert "No Python 3.8 or newer" in found.stderr
    given = _program(tmp_path / "my programs" / "python", f'exec "{sys.executable}" "$@"')
    assert _make(copy, tmp_path / "programs", "clean", f"PYTHON={given}").returncode == 0
    assert not (copy / "build").exists()


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make, as on Windows")
def test_without_any_python_a_uv_that_is_there_brings_one_into_the_checkout(copy: Path, tmp_path: Path) -> None:
    _program(tmp_path / "programs" / "uv", 'echo "$@"; echo "$UV_PYTHON_INSTALL_DIR"; echo "$UV_CACHE_DIR"')
    done = _make(copy, tmp_path / "programs", "demo", "ARGS=--frames 12")
    said, command, *places = done.stdout.splitlines()
    assert "MB" in said
    assert command == "run --no-project --python 3.13 tools/tasks.py demo -- --frames 12"
    assert [Path(place).relative_to(copy).parts[0] for place in places] == [".venv-python", ".venv-cache"]


def test_the_same_commands_run_without_make(monkeypatch: MonkeyPatch) -> None:
    """`python tools/tasks.py demo`, `test` and `clean` do what make's targets of these names do."""
    run: list[tuple[str, ...]] = []
    monkeypatch.setattr(tasks, "run", lambda script, words: run.append((script, *words)) or 0)
    monkeypatch.setattr(tasks, "test", lambda blender, words: run.append(("test", blender, *words)) or 0)
    monkeypatch.setattr(tasks, "clean", lambda: run.append(("clean",)) or 0)
    for words in (["demo", "--", "--frames", "12"], ["test"], ["clean"]):
        assert tasks.main(words) == 0
    assert run == [("tools/build_zip.py",), ("examples/demo.py", "--frames", "12"), ("test", ""), ("clean",)]


def test_temporary_files_of_a_command_go_with_it(capfd: CaptureFixture[str]) -> None:
    """Blender as a module leaves a folder behind where it is ended, as here."""
    assert tasks._call([sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp())"]) == 0
    assert not Path(capfd.readouterr().out.strip()).parent.exists()
