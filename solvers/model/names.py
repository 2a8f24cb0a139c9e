# SPDX-License-Identifier: GPL-3.0-or-later
"""Suggestions for a name that does not exist."""

from collections.abc import Iterable
from difflib import SequenceMatcher

MOST = 20  # names per message


def suggestions(wrong: str, names: Iterable[str], form: str = "{!r}") -> str:
    """Names in one line, those most similar to `wrong` first, each formatted by `form`."""

    def likeness(name: str) -> float:
        return SequenceMatcher(None, str(name).lower(), wrong.lower()).ratio()

    closest = sorted(dict.fromkeys(names), key=likeness, reverse=True)
    more = f" and {len(closest) - MOST} more" if len(closest) > MOST else ""
    return ", ".join(form.format(name) for name in closest[:MOST]) + more
