# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the manual of this version as a site, beside those of other versions in the same folder.

    python tools/manual.py [FOLDER]

The site goes to FOLDER/<version>, build/site by default. FOLDER/versions.json lists the versions that are there, the
newest first, as the site's menu of versions reads it; FOLDER/index.html leads to the newest. Copy the folder to a web
server, or fetch the published one before, so that older versions stay. Needs MkDocs with its theme; `make docs` has it.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from wheels import ROOT, VERSION


def build(folder: Path) -> int:
    """Build the site of this version, and list all versions. Returns 0, or what MkDocs returned."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder / VERSION)]
    failed = subprocess.run(command, cwd=ROOT, check=False).returncode
    if failed:
        return failed
    found = sorted((one.parent.name for one in folder.glob("*/sitemap.xml")), key=_numbers, reverse=True)
    listed = [{"version": one, "title": one, "aliases": []} for one in found]
    (folder / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta http-equiv="refresh" content="0; url={found[0]}/index.html"><title>DQIK</title>\n'
    (folder / "index.html").write_text(page, encoding="utf-8")
    return 0


def _numbers(version: str) -> list[int]:
    """The parts of a version, to be compared."""
    return [int(part) if part.isdigit() else -1 for part in version.replace("-", ".").split(".")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the manual of this version as a site.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site", help="build/site if left out")
    sys.exit(build(parser.parse_args().folder.resolve()))
