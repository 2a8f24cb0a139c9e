# SPDX-License-Identifier: GPL-3.0-or-later
"""A bitmap font for plots, drawn here, and text as arrays. NumPy only.

Letters are up to 5 dots wide and 7 high, with 2 below the line. They are enlarged with rounded corners, not as squares.
"""

from functools import cache

import numpy as np

HEIGHT = 9  # dots, two of them below the line
BASELINE = 7
_SPACE = 3
_UNKNOWN = np.ones((HEIGHT, 4), dtype=bool)
_ROUND = 3  # doublings of a letter before it is averaged to its size

# fmt: off
_DRAWN = """
A---- B---- C---- D---- E---- F---- G---- H---- I-- J---- K---- L---- M---- N---- O---- P---- Q----
.###. ####. .###. ####. ##### ##### .###. #...# ### ..### #...# #.... #...# #...# .###. ####. .###.
#...# #...# #...# #...# #.... #.... #...# #...# .#. ...#. #..#. #.... ##.## ##..# #...# #...# #...#
#...# #...# #.... #...# #.... #.... #.... #...# .#. ...#. #.#.. #.... #.#.# ##..# #...# #...# #...#
##### ####. #.... #...# ####. ####. #..## ##### .#. ...#. ##... #.... #.#.# #.#.# #...# ####. #...#
#...# #...# #.... #...# #.... #.... #...# #...# .#. ...#. #.#.. #.... #...# #..## #...# #.... #.#.#
#...# #...# #...# #...# #.... #.... #...# #...# .#. #..#. #..#. #.... #...# #..## #...# #.... #..#.
#...# ####. .###. ####. ##### #.... .###. #...# ### .##.. #...# ##### #...# #...# .###. #.... .##.#
..... ..... ..... ..... ..... ..... ..... ..... ... ..... ..... ..... ..... ..... ..... ..... .....
..... ..... ..... ..... ..... ..... ..... ..... ... ..... ..... ..... ..... ..... ..... ..... .....
R---- S---- T---- U---- V---- W---- X---- Y---- Z---- a---- b---- c--- d---- e---- f--- g---- h----
####. .###. ##### #...# #...# #...# #...# #...# ##### ..... #.... .... ....# ..... ..## ..... #....
#...# #...# ..#.. #...# #...# #...# #...# #...# ....# ..... #.... .... ....# ..... .#.. ..... #....
#...# #.... ..#.. #...# #...# #...# .#.#. .#.#. ...#. .###. ####. .### .#### .###. #### .#### ####.
####. .###. ..#.. #...# #...# #.#.# ..#.. ..#.. ..#.. ....# #...# #... #...# #...# .#.. #...# #...#
#.#.. ....# ..#.. #...# #...# #.#.# .#.#. ..#.. .#... .#### #...# #... #...# ##### .#.. #...# #...#
#..#. #...# ..#.. #...# .#.#. ##.## #...# ..#.. #.... #...# #...# #... #...# #.... .#.. #...# #...#
#...# .###. ..#.. .###. ..#.. #...# #...# ..#.. ##### .#### ####. .### .#### .###. .#.. .#### #...#
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .... ..... ..... .... ....# .....
..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .... ..... ..... .... .###. .....
i j-- k--- l- m---- n---- o---- p---- q---- r--- s--- t--- u---- v---- w---- x---- y---- z--- 0----
# ..# #... #. ..... ..... ..... ..... ..... .... .... .#.. ..... ..... ..... ..... ..... .... .###.
. ... #... #. ..... ..... ..... ..... ..... .... .... .#.. ..... ..... ..... ..... ..... .... #...#
# .## #..# #. ##.#. ####. .###. ####. .#### #.## .### #### #...# #...# #...# #...# #...# #### #..##
# ..# #.#. #. #.#.# #...# #...# #...# #...# ##.. #... .#.. #...# #...# #.#.# .#.#. #...# ...# #.#.#
# ..# ##.. #. #.#.# #...# #...# #...# #...# #... .##. .#.. #...# #...# #.#.# ..#.. #...# .##. ##..#
# ..# #.#. #. #.#.# #...# #...# #...# #...# #... ...# .#.. #...# .#.#. #.#.# .#.#. #...# #... #...#
# ..# #..# .# #.#.# #...# .###. ####. .#### #... ###. ..## .#### ..#.. .#.#. #...# .#### #### .###.
. ..# .... .. ..... ..... ..... #.... ....# .... .... .... ..... ..... ..... ..... ....# .... .....
. ##. .... .. ..... ..... ..... #.... ....# .... .... .... ..... ..... ..... ..... .###. .... .....
1-- 2---- 3---- 4---- 5---- 6---- 7---- 8---- 9---- . ,- : ---- +---- _---- %---- /---- (- )- =---
.#. .###. .###. ...#. ##### ..##. ##### .###. .###. . .. . .... ..... ..... ##..# ....# .# #. ....
##. #...# #...# ..##. #.... .#... ....# #...# #...# . .. . .... ..... ..... ##.#. ...#. #. .# ....
.#. ....# ....# .#.#. ####. #.... ...#. #...# #...# . .. # .... ..#.. ..... ...#. ...#. #. .# ####
.#. ...#. ..##. #..#. ....# ####. ..#.. .###. .#### . .. . #### ..#.. ..... ..#.. ..#.. #. .# ....
.#. ..#.. ....# ##### ....# #...# .#... #...# ....# . .. . .... ##### ..... .#... .#... #. .# ####
.#. .#... #...# ...#. #...# #...# .#... #...# ...#. . .. . .... ..#.. ..... .#.## .#... #. .# ....
### ##### .###. ...#. .###. .###. .#... .###. .##.. # .# # .... ..#.. ##### #..## #.... .# #. ....
... ..... ..... ..... ..... ..... ..... ..... ..... . .# . .... ..... ..... ..... ..... .. .. ....
... ..... ..... ..... ..... ..... ..... ..... ..... . #. . .... ..... ..... ..... ..... .. .. ....
' °-- <--- >---
# .#. ...# #...
# #.# ..#. .#..
. .#. .#.. ..#.
. ... #... ...#
. ... .#.. ..#.
. ... ..#. .#..
. ... ...# #...
. ... .... ....
. ... .... ....
"""
# fmt: on


@cache
def _letters() -> dict[str, np.ndarray]:
    """The drawn letters: bool (HEIGHT, width)."""
    lines, letters = _DRAWN.strip("\n").split("\n"), {}
    for first in range(0, len(lines), HEIGHT + 1):
        names, *rows = (line.split() for line in lines[first : first + HEIGHT + 1])
        for column, name in enumerate(names):
            letters[name[0]] = np.array([[dot == "#" for dot in row[column]] for row in rows])
    return letters


def text(string: str, dot: int = 2) -> np.ndarray:
    """A line of text: how much of each pixel is covered, (HEIGHT * dot, width), the top row first."""
    parts = [_enlarged(letter, dot) for letter in string]
    return np.concatenate(parts, 1) if parts else np.zeros((HEIGHT * dot, 0))


@cache
def _enlarged(letter: str, dot: int) -> np.ndarray:
    """A letter with the gap after it, each of its dots `dot` pixels wide."""
    dots = np.zeros((HEIGHT, _SPACE), dtype=bool) if letter == " " else _letters().get(letter, _UNKNOWN)
    dots = np.pad(dots, ((0, 0), (0, 1)))
    rows, columns = dots.shape
    for doubling in range(_ROUND):
        dots = _rounded(dots, cut=doubling > 0)
    fine = np.repeat(np.repeat(dots, dot, 0), dot, 1).astype(float)
    size = 2**_ROUND
    return fine.reshape(rows * dot, size, columns * dot, size).mean((1, 3))


def _rounded(dots: np.ndarray, cut: bool) -> np.ndarray:
    """Dots at twice the size, with a corner of each taken from its two neighbours where they agree.

    cut : corners may be taken away too; at the first doubling that would make an O of a D.
    """
    around = np.pad(dots, 1)
    above, below, left, right = around[:-2, 1:-1], around[2:, 1:-1], around[1:-1, :-2], around[1:-1, 2:]
    twice = np.repeat(np.repeat(dots, 2, 0), 2, 1)
    for row, vertical, other_row in ((0, above, below), (1, below, above)):
        for column, horizontal, other_column in ((0, left, right), (1, right, left)):
            corner = (vertical == horizontal) & (vertical != other_row) & (horizontal != other_column)
            twice[row::2, column::2] = np.where(corner & (vertical | cut), vertical, dots)
    return twice
