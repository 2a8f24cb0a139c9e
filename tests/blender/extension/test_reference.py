# SPDX-License-Identifier: GPL-3.0-or-later
"""The page docs/reference.md names what is registered."""

import reference


def test_the_reference_is_up_to_date() -> None:
    """If this fails: `python tools/reference.py`."""
    assert reference.made() == reference.PAGE.read_text(encoding="utf-8")
