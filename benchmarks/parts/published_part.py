# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the claims of the published experiments, and draws them."""

from argparse import Namespace

import published
import published_plots
from report import Result


def run(arguments: Namespace) -> Result:
    """Check every claim, and draw the plots."""
    ellipse, success, hand = published.soch_and_lorencz(), published.amino(), published.kenwright()
    published_plots.draw(arguments.pictures, ellipse, hand)
    claims = [*published.ellipse_claims(ellipse), *published.arm_claims(success), *published.hand_claims(hand)]
    return Result([claim.row() for claim in claims], [
        ("source", lambda row: str(row["source"])),
        ("case", lambda row: str(row["case"])),
        ("solver", lambda row: str(row["solver"])),
        ("printed", lambda row: str(row["printed"])),
        ("measured", lambda row: f"{row['measured']:.4g} {row['unit']}".strip()),
        ("met", lambda row: {True: "yes", False: "no", None: "-"}[row["met"]]),
    ])  # fmt: skip
