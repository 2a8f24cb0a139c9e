# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every solver on every workload of `workload_suite` and measures the share of targets met, time and memory.

Solvers take turns of a tenth of a second each, so that other load on the machine affects all of them. They stop at the
end of a workload's seconds or targets. `judge` decides from the poses alone which targets are met.
"""

import time
import tracemalloc
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import judge
import numpy as np
from contest import Answer, Entry, Ours, Refused
from report import Result, Row, number
from workload_suite import Workload, suite

import solvers as ik

MORE = 4.0  # factor on the seconds, for playing a motion to its end and for solving targets in batches
TURN = 0.1  # [s]
TOGETHER = 20  # targets in a batch, at most
PATIENCE = 0.5  # [s] per solve; slower solvers get no restarts and no longer chains
GROWTH_FROM = 50  # balls: the growth is fitted from this number on, below which calls cost more than joints
WHICH = ("mean", "max")
COMPARABLE = 0.5  # of the best share met: solvers below it are left out of the ratio to the fastest

Enter = Callable[[Workload], Entry]
# Processor time leaves out what other programs do, where the system counts it finely enough.
CLOCK = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter


@dataclass
class Record:
    """A solver's answers to the first frames of a workload, and the seconds of the timed ones."""

    answers: list[Answer] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    memory: int | None = None  # [bytes]


def contestants() -> dict[str, Enter]:
    """The solvers of this project."""
    return {name: partial(Ours, name) for name in ik.SOLVERS}


def run(arguments: Namespace) -> Result:
    """Measure every solver on every workload, and other libraries' too; draw the plots and renew the page's tables."""
    import peers

    others = peers.installed() if arguments.peers else {}
    rows: list[Row] = []
    slow: dict[tuple[str, str], str] = {}
    for workload in suite():
        family = "E" if workload.size else workload.key
        entrants = contestants() | others
        for name in entrants:
            if (family, name) in slow and (workload.size or workload.restarts):
                entrants[name] = partial(_refuse, slow[family, name])
        found = measured(workload, entrants, arguments.seconds)
        for row in found:
            if "met" in row and row["ms_median"] > 1000.0 * PATIENCE:
                slow[family, row["solver"]] = (
                    f"too slow: {row['ms_median'] / 1000.0:.1f} s a solve in {row['workload']}"
                )
        rows += found
    fitted(rows)
    result = shown(rows)
    publish(result, arguments.pictures, arguments.page, arguments.machine)
    return result


def shown(rows: list[Row]) -> Result:
    """The rows, and the columns of the table."""
    return Result(rows, [
        ("workload", lambda row: str(row["workload"])),
        ("solver", lambda row: str(row["solver"])),
        ("solves", number("solves", ".0f")),
        ("timed", number("timed", ".0f")),
        ("met", number("met", ".1f", 100.0, " %")),
        ("steps, median", number("steps_median", ".0f")),
        ("95 %", number("steps_p95", ".0f")),
        ("ms, median", number("ms_median", ".2f")),
        ("95 %", number("ms_p95", ".2f")),
        ("to fastest", number("to_fastest", ".1f")),
        ("KiB", number("memory_kib", ".0f")),
        ("outside limits", number("outside_max", ".0e")),
        ("turn, mean", number("turn_mean_deg", ".2f", unit="°")),
        ("largest", number("turn_max_deg", ".1f", unit="°")),
        ("mean to motion's", number("turn_mean_to_own", ".2f")),
        ("largest", number("turn_max_to_own", ".2f")),
        ("a step's time ~ N to the", number("time_exponent", ".2f")),
        ("refused", lambda row: str(row.get("refused") or "-").split(";")[0]),
    ])  # fmt: skip


def publish(result: Result, pictures: Path, page: Path | None, machine: str) -> None:
    """Draw the plots into a folder, and renew the tables of a page."""
    import comparison_plots  # imported here because the rest works without matplotlib
    import comparison_tables

    comparison_plots.draw(result.rows, pictures)
    if page is not None:
        comparison_tables.fill(page, result.rows, machine)


def measured(workload: Workload, entrants: Mapping[str, Enter], seconds: float) -> list[Row]:
    """A row for each solver."""
    entries, refused = {}, {}
    for name, enter in entrants.items():
        try:
            entries[name] = enter(workload)
        except Refused as reason:
            refused[name] = str(reason)
    records = {name: Record() for name in entries}
    singly = MORE * seconds if workload.coherent else seconds
    take_turns({name: one_by_one(workload, entry, records[name]) for name, entry in entries.items()}, singly)
    if not workload.coherent:
        batched = {name: entry for name, entry in entries.items() if isinstance(entry, Ours)}
        runs = {name: together(workload, entry, records[name], MORE * seconds) for name, entry in batched.items()}
        take_turns(runs, MORE * seconds)
    for name, entry in entries.items():
        if isinstance(entry, Ours) and not workload.restarts and sum(records[name].seconds[:1]) < PATIENCE:
            records[name].memory = peak_memory(partial(entry.solve, 0))
    rows = []
    for name in entrants:
        row = {"workload": workload.title, "solver": name, "size": workload.size, "ours": name in ik.SOLVERS}
        if name in refused:
            rows.append(row | {"refused": refused[name]})
        elif records[name].answers:
            rows.append(row | summary(workload, records[name]))
    able = [row for row in rows if row["ours"] and "met" in row]
    best = max((row["met"] for row in able), default=0.0)
    fastest = min((row["ms_median"] for row in able if best and row["met"] >= COMPARABLE * best), default=None)
    for row in rows:
        row["to_fastest"] = row["ms_median"] / fastest if fastest and "ms_median" in row else None
    return rows


def one_by_one(workload: Workload, entry: Entry, record: Record) -> Iterator[None]:
    """Solve frames by single calls and time each."""
    call = entry.follow if workload.coherent else entry.solve
    for frame in range(len(workload.positions)):
        began = CLOCK()
        answer = call(frame)
        record.seconds.append(CLOCK() - began)
        record.answers.append(entry.read(answer))
        yield


def together(workload: Workload, entry: Ours, record: Record, seconds: float) -> Iterator[None]:
    """Solve the remaining frames in batches, which give the same answers in less time."""
    count = len(workload.positions)
    batch = min(TOGETHER, int(seconds / np.mean(record.seconds)))
    while batch and (first := len(record.answers)) < count:
        record.answers += entry.solve_together(first, min(first + batch, count))
        yield


def take_turns(runs: Mapping[str, Iterable[None]], seconds: float) -> None:
    """Let the solvers run in turns until each has ended or used up its seconds."""
    left = {name: iter(run) for name, run in runs.items()}
    used = dict.fromkeys(left, 0.0)
    while left:
        for name, work in list(left.items()):
            began = time.perf_counter()
            while (spent := time.perf_counter() - began) < TURN and used[name] + spent < seconds:
                if next(work, left) is left:  # it has ended
                    used[name] = seconds
            used[name] += spent
            if used[name] >= seconds:
                del left[name]


def peak_memory(call: Callable[[], object]) -> int:
    """The peak of the bytes that a call allocates, above those allocated before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def summary(workload: Workload, record: Record) -> Row:
    """A row's numbers."""
    poses, count = [answer.pose for answer in record.answers], len(record.answers)
    verdict = judge.judged(workload, poses, list(range(count)))
    low, high = judge.likely_share(int(verdict.met.sum()), count)
    milliseconds = 1000.0 * np.array(record.seconds)
    row: dict[str, object] = {
        "solves": count, "timed": len(milliseconds), "met": float(verdict.met.mean()), "met_low": low, "met_high": high,
        "ms_median": float(np.median(milliseconds)), "ms_mean": float(milliseconds.mean()),
        "ms_p95": float(np.percentile(milliseconds, 95)),
        "memory_kib": None if record.memory is None else record.memory / 1024.0,
        "outside_max": float(verdict.outside.max()), "distance_median": float(np.median(verdict.distances.max(-1))),
    }  # fmt: skip
    steps = [answer.iterations for answer in record.answers]
    if None not in steps:
        row |= {"steps_median": float(np.median(steps)), "steps_p95": float(np.percentile(steps, 95))}
        row["ms_step"] = float(milliseconds.sum() / max(sum(steps[: len(milliseconds)]), 1))
    if workload.coherent and count == len(
        workload.positions
    ):  # the largest turn may be in the part that was not played
        row |= _turns("", judge.joint_steps(np.array([pose.rotations for pose in poses])))
        if workload.motion is not None:
            row |= _turns("own_", judge.joint_steps(workload.motion[:count]))
            row |= {f"turn_{which}_to_own": row[f"turn_{which}_deg"] / row[f"own_turn_{which}_deg"] for which in WHICH}
    return row


def fitted(rows: list[Row]) -> None:
    """Add, in the row of each solver's longest chain, the power of the length with which an iteration's time grows."""
    for solver in dict.fromkeys(row["solver"] for row in rows):
        sized = [row for row in rows if row["solver"] == solver and row["size"] and row.get("ms_step")]
        long = [row for row in sized if row["size"] >= GROWTH_FROM]
        if len(long) > 1:
            long[-1]["time_exponent"] = growth([row["size"] for row in long], [row["ms_step"] for row in long])


def growth(sizes: Iterable[float], values: Iterable[float]) -> float:
    """The power of the size with which values grow: the slope of the line through their logarithms."""
    return float(np.polyfit(np.log(list(sizes)), np.log(list(values)), 1)[0])


def _refuse(reason: str, _: Workload) -> Entry:
    raise Refused(reason)


def _turns(prefix: str, turns: np.ndarray) -> Row:
    """Mean and largest turn of a joint in a frame, from turns (F - 1, J)."""
    return {
        f"{prefix}turn_mean_deg": float(np.degrees(turns.mean())),
        f"{prefix}turn_max_deg": float(np.degrees(turns.max())),
    }
