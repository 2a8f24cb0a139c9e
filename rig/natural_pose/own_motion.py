# SPDX-License-Identifier: GPL-3.0-or-later
"""Stub."""


class OwnMotion:
    pass


def from_text(text):
    return None


def to_text(own):
    return ""


def fit(prior, poses, links):
    return OwnMotion()
