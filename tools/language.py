# SPDX-License-Identifier: GPL-3.0-or-later
"""Add what a language leaves out to its file, to be translated: all that German has, which tests hold to be whole.

    python tools/language.py nl

Makes the file if it is not there. Entries that are not translated yet have no effect: Blender shows them in English.
"""

import argparse
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "ui" / "languages"
_HEAD = """# SPDX-License-Identifier: GPL-3.0-or-later
# Words of the interface.
msgid ""
msgstr ""
"Language: {}\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"""


def main() -> None:
    """Complete the file, and say by how much."""
    parser = argparse.ArgumentParser(description="Add what a language leaves out to its file, to be translated.")
    parser.add_argument("name", help="of the language, as nl")
    name = parser.parse_args().name
    path = FOLDER / f"{name}.po"
    own = path.read_text(encoding="utf-8") if path.exists() else _HEAD.format(name)
    whole, count = completed(own, (FOLDER / "de.po").read_text(encoding="utf-8"))
    path.write_text(whole, encoding="utf-8", newline="\n")
    print(f"{path}: {count} texts added, to be translated")


def completed(own: str, other: str) -> tuple[str, int]:
    """A `.po` file with the entries that another one has too, those without a translation; and the number of these."""
    there = {_asked(entry) for entry in own.split("\n\n")}
    missing = [asked for entry in other.split("\n\n")[1:] if (asked := _asked(entry)) not in there]
    return "\n\n".join([own.rstrip("\n"), *(f'{asked}\nmsgstr ""' for asked in missing)]) + "\n", len(missing)


def _asked(entry: str) -> str:
    """An entry's context and English text, as they are written."""
    lines = [line for line in entry.strip().splitlines() if not line.startswith("#")]
    return "\n".join(lines[: next((k for k, line in enumerate(lines) if line.startswith("msgstr")), len(lines))])


if __name__ == "__main__":
    main()
