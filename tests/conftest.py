# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the repository's root on the path, and repeatable hypothesis runs."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
