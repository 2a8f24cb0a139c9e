# SPDX-License-Identifier: GPL-3.0-or-later
"""Short tables of the comparison, which replace the text between named marks in a page of the documentation."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from comparison_plots import COHERENT, COLD
from report import Result, Row

ENOUGH = {"solves": 50, "timed": 10}
CELL = Callable[[dict[str, Row], str], str]


def fill(page: Path, rows: Sequence[Row], machine: str) -> None:
    """Replace the tables of a page, which are between `<!-- name -->` and `<!-- end -->`."""
    text = page.read_text(encoding="utf-8")
    for name, table in {"cold": cold(rows), "coherent": coherent(rows), "growth": growth(rows)}.items():
        block = f"<!-- {name} -->\n{table}\n<!-- end -->"
        text = re.sub(rf"<!-- {name} -->\n.*?<!-- end -->", lambda _, block=block: block, text, flags=re.DOTALL)
    text = re.sub(
        r"<!-- machine -->\n.*?<!-- end -->", lambda _: f"<!-- machine -->\n{machine}\n<!-- end -->", text,
        flags=re.DOTALL,
    )  # fmt: skip
    page.write_text(text, encoding="utf-8")


def cold(rows: Sequence[Row]) -> str:
    """The share met in one attempt and with restarts, and the mean time of one attempt."""

    def cell(found: dict[str, Row], key: str) -> str:
        once, again = found.get(f"{key}, cold"), found.get(f"{key}, cold, 20 restarts")
        if once is None:
            return "-"
        return f"{_share(once)} → {_share(again) if again else '-'} %, {_time(once['ms_mean'])}"

    return _table(rows, COLD, cell)


def coherent(rows: Sequence[Row]) -> str:
    """The share met, the median time, and the largest turn of a joint relative to the motion's own."""

    def cell(found: dict[str, Row], key: str) -> str:
        row = found.get(f"{key}, coherent")
        if row is None:
            return "-"
        turn = f", x {row['turn_max_to_own']:.1f}" if row.get("turn_max_to_own") else ""
        return f"{_share(row)} %, {_time(row['ms_median'])}{turn}"

    return _table(rows, COHERENT, cell)


def growth(rows: Sequence[Row]) -> str:
    """The share met and the median time by the number of balls, and the power with which an iteration's time grows."""
    sizes = sorted({row["size"] for row in rows if row["size"]})
    keys = [f"E {size} balls, cold" for size in sizes]

    def cell(found: dict[str, Row], key: str) -> str:
        if key == "a step ~ N to the":
            powers = [row["time_exponent"] for row in found.values() if row.get("time_exponent") is not None]
            return f"{powers[0]:.1f}" if powers else "-"
        if key == "KiB at 100":
            memory = [row["memory_kib"] for row in found.values() if row["size"] == 100 and row.get("memory_kib")]
            return f"{memory[0]:.0f}" if memory else "-"
        row = found.get(key)
        return "-" if row is None else f"{_share(row)} %, {_time(row['ms_median'])}{_few(row, 'timed')}"

    titles = dict(zip(keys, (f"N = {size}" for size in sizes), strict=True))
    return _table(rows, [*keys, "a step ~ N to the", "KiB at 100"], cell, titles)


def _table(rows: Sequence[Row], keys: Sequence[str], cell: CELL, titles: dict[str, str] | None = None) -> str:
    lines = []
    for solver in dict.fromkeys(row["solver"] for row in rows):
        found = {row["workload"]: row for row in rows if row["solver"] == solver and "met" in row}
        lines.append({"solver": solver, **{key: cell(found, key) for key in keys}})
    columns = [((titles or {}).get(key, key), lambda row, key=key: str(row[key])) for key in ("solver", *keys)]
    return Result([line for line in lines if any(line[key] != "-" for key in keys)], columns).table()


def _share(row: Row) -> str:
    return f"{100 * row['met']:.0f}{_few(row)}"


def _few(row: Row, of: str = "solves") -> str:
    """The number of targets, if it is smaller than that of other solvers."""
    return f" (n={row[of]})" if row[of] < ENOUGH[of] else ""


def _time(milliseconds: float) -> str:
    digits = 2 if milliseconds < 1 else 1 if milliseconds < 10 else 0
    return f"{milliseconds:.{digits}f} ms"
