# SPDX-License-Identifier: GPL-3.0-or-later
"""The page docs/reference.md names what is registered."""

import reference


def test_the_reference_is_up_to_date() -> None:
    is_new = reference.made() == reference.PAGE.read_text(encoding="utf-8")
    assert is_new, "write the page again: .venv-5.2/bin/python tools/reference.py, or the Python of another Blender"
