# SPDX-License-Identifier: GPL-3.0-or-later
"""A tool that is pressed works in steps between which Blender answers, and Esc stops it; a script has it at once."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
import rigs

STEPS = 3
ESC, TIMER = SimpleNamespace(type="ESC"), SimpleNamespace(type="TIMER")


@pytest.fixture
def made() -> Callable:
    """Makes a tool from its work, and a context that counts its timers."""
    common = rigs.part("operators.common")
    ob = rigs.figure()

    def make(work: Callable) -> tuple[object, MagicMock]:
        class Worked(common.Tool):
            stores, properties = False, MagicMock()

            def __init__(self) -> None:
                self.said: list[str] = []

            def run(self, context: object, ob: object) -> object:
                return work()

            def report(self, kinds: set[str], words: str) -> None:
                self.said.append(words)

        return Worked(), MagicMock(object=ob)

    return make


def steps(done: list[str]) -> Iterator[float]:
    """Three steps, and what is done where they are closed before their end."""
    try:
        for number in range(STEPS):
            yield (number + 1) / STEPS
        done.append("all")
    except GeneratorExit:
        done.append("put back")
        raise


def test_a_pressed_tool_works_in_steps(made: Callable) -> None:
    done: list[str] = []
    tool, context = made(lambda: steps(done))
    assert tool.invoke(context, TIMER) == {"RUNNING_MODAL"}
    assert not done
    results = [tool.modal(context, TIMER)]
    while results[-1] == {"RUNNING_MODAL"}:
        results.append(tool.modal(context, TIMER))
    assert results[-1] == {"FINISHED"}
    assert done == ["all"]
    assert context.window_manager.event_timer_remove.call_count == 1
    assert context.workspace.status_text_set.call_args.args == (None,)


@pytest.mark.parametrize("stop", ["ESC", "cancel"])
def test_a_tool_that_is_stopped_puts_everything_back(made: Callable, stop: str) -> None:
    done: list[str] = []
    tool, context = made(lambda: steps(done))
    tool.invoke(context, TIMER)
    if stop == "ESC":
        assert tool.modal(context, ESC) == {"CANCELLED"}
        assert tool.said == ["Stopped, nothing was changed"]
    tool.cancel(context)
    tool.cancel(context)
    assert done == ["put back"]
    assert context.window_manager.event_timer_remove.call_count == 1


@pytest.mark.parametrize("is_pressed", [False, True])
def test_a_tool_without_steps_works_at_once(made: Callable, is_pressed: bool) -> None:
    done: list[str] = []
    tool, context = made(lambda: done.append("all"))
    assert (tool.invoke(context, TIMER) if is_pressed else tool.execute(context)) == {"FINISHED"}
    assert done == ["all"]
    tool.cancel(context)
    assert not context.window_manager.event_timer_add.called
