# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel warns of before a figure is set up, and which of several figures was."""

import re
from pathlib import Path

import bpy
import captured
import pytest
import rigs
from shown_words import Drawn
from situations import key_turns, library, linked_from

STILL = "This figure stands still: no keys of action {} move its bones"


def cautions(ob: bpy.types.Object) -> list[str]:
    """The texts of the warnings, without what to do."""
    of = rigs.part("rig.clip.cautions")
    notes = [*of.of_figure(ob), *of.of_motion(ob, bpy.context.scene)]
    return [re.split(": (?:choose|set|make) ", note.code)[0] for note in notes]


def first_panel(extension: str) -> set[str]:
    """The texts of the panel *Live* for what is selected."""
    drawn, ui = Drawn(extension), rigs.part("ui")
    drawn.tab(tuple(cls for cls in ui.PANELS if cls.__name__ == "DQIK_PT_live"), 300)
    return {text for _, text in drawn.texts}


def test_a_figure_that_moves_or_has_no_action_gives_no_warning() -> None:
    ob = rigs.figure()
    assert not cautions(ob)
    key_turns(ob, "arm.L")
    assert not cautions(ob)


def test_a_figure_that_stands_still_says_why() -> None:
    ob = rigs.figure()
    key_turns(ob, "arm.L", {1: (0.2, 0.0, 0.0), 20: (0.2, 0.0, 0.0)})
    assert cautions(ob) == [STILL]
    key_turns(ob, "arm.L", {20: (0.4, 0.0, 0.0)})
    assert not cautions(ob)
    for curve in rigs.fcurves(ob):
        curve.mute = True
    assert cautions(ob) == [STILL]
    ob.data.pose_position = "REST"
    assert cautions(ob) == ["The armature is shown in Rest Position"]


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="actions have slots from 4.4 on")
def test_an_action_whose_slot_is_not_chosen_says_so() -> None:
    ob = rigs.figure()
    key_turns(ob, "arm.L")
    ob.animation_data.action_slot = None
    still = "This figure stands still: action {} moves nothing until its slot is chosen in the Action Editor"
    assert cautions(ob) == [still]


def test_a_linked_figure_says_so(tmp_path: Path) -> None:
    rigs.figure()
    (ob,) = linked_from(tmp_path / "library.blend", ["Figure"])
    assert cautions(ob) == ["This armature is linked, so its goals and its pose are not saved here"]


def test_an_instance_of_a_linked_figure_offers_an_override(extension: str, tmp_path: Path) -> None:
    """As a linked collection comes into a scene: the armature itself cannot be selected."""
    rigs.figure()
    linked, instance = library(tmp_path / "library.blend"), rigs.empty((0, 0, 0))
    bpy.context.view_layer.objects.active = instance
    assert "Select an armature, or the target of one of its goals" in first_panel(extension)
    instance.instance_type, instance.instance_collection = "COLLECTION", linked
    assert "Make Library Override" in first_panel(extension)


def test_live_that_solves_nothing_points_to_the_warning(extension: str) -> None:
    ob = rigs.live(rigs.arm())
    rigs.goal(ob, "b", None)
    rigs.update()
    assert "it has no target" in rigs.message(ob)
    assert "Not solved: read the warning" in first_panel(extension)
    rigs.put(ob.dqik.goals[0], target=rigs.empty((0.5, 0, 0.5)))
    rigs.update()
    assert "Not solved: read the warning" not in first_panel(extension)


def test_a_motion_at_another_rate_says_so(tmp_path: Path) -> None:
    ob = captured.clip(tmp_path, range(360))
    bpy.context.scene.render.fps = 60
    assert cautions(ob) == ["This motion moves as if made for {} frames a second, but the scene plays {}"]


def test_which_of_two_selected_armatures_was_set_up_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    first, second = rigs.figure("Anna"), rigs.figure("Ben")
    rigs.made_active(second).location.x = 2.0
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert "active one" not in capfd.readouterr().out
    bpy.ops.dqik.goals_clear()
    first.select_set(True)
    assert bpy.ops.dqik.setup_full_body() == {"FINISHED"}
    assert "only 'Ben', the active one" in capfd.readouterr().out
    assert second.dqik.goals
    assert not first.dqik.goals
