# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made for animators and kept in the file: goals, control bones, a full body, pins, mirror images."""
