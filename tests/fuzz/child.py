# SPDX-License-Identifier: GPL-3.0-or-later
"""A process with real Blender that answers a line to each line, and that a crash of Blender ends."""

import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

PATIENCE = 600.0  # seconds for one answer


class Child:
    """The process of a script `SCRIPT ZIP FOLDER`; started again where it ends."""

    def __init__(self, script: Path, zip_path: Path, folder: Path) -> None:
        self.script, self.zip_path, self.folder = script, zip_path, folder
        self.process: subprocess.Popen | None = None

    def start(self) -> dict:
        """Start it; what it says first."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_USER_")}
        environment.update(TMPDIR=str(self.folder), PYTHONHASHSEED="0")
        command = [sys.executable, str(self.script), str(self.zip_path), str(self.folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        ready = self._answer()
        if ready is None:
            log = self.folder / "log.txt"
            raise SystemExit(f"Blender did not start: {log.read_text() if log.exists() else 'see above'}")
        return ready

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None

    def ask(self, order: object) -> dict | str:
        """The answer; of a process that gives none how it ended, and it is no more."""
        if self.process is None:
            self.start()
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        answer = self._answer()
        if answer is not None:
            return answer
        ended = self.process.poll()
        self.stop()
        if ended == 1:  # not Blender: the script's own code raised
            raise SystemExit((self.folder / "log.txt").read_text()[-3000:])
        return f"Blender ended with code {ended}" if ended is not None else f"No answer within {PATIENCE:g} s"

    def _answer(self) -> dict | None:
        """The next line, or None where the process ends or says nothing for long."""
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if ready else b""
        if not line and ready:
            self.process.wait()
        return json.loads(line) if line else None


def extension_zip(folder: Path) -> Path:
    """The extension's zip, built from this checkout."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
    import build_zip

    return build_zip.build(folder)
