# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar's panels, as far as they can be tested without a window; tests/gui clicks through them in one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import bpy
import pytest
import rigs
from situations import into_collection

LINE = 70  # letters of a tooltip's line: two of them at most


@pytest.fixture
def ui() -> ModuleType:
    """The extension's `ui`, as installed."""
    return rigs.part("ui")


@pytest.fixture
def arm() -> bpy.types.Object:
    """A chain of three bones, active in Object Mode."""
    return rigs.chain([(0, 0, 0), (0, 0.1, 1), (0, 0, 2), (0, 0, 3)])


def panels(ui: ModuleType) -> list[type]:
    """The classes of the tab's panels."""
    return [cls for cls in ui.CLASSES if issubclass(cls, bpy.types.Panel) and cls.bl_region_type == "UI"]


def shown(ui: ModuleType) -> set[str]:
    """Names of the panels that would be drawn now."""
    return {cls.__name__ for cls in panels(ui) if not hasattr(cls, "poll") or cls.poll(bpy.context)}


def calls(ui: ModuleType) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a method in `ui`, with the method's name."""
    for path in sorted(Path(ui.__file__ or "").parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield node.func.attr, node


def operators() -> list[bpy.types.Struct]:
    """What Blender knows about our operators."""
    return [getattr(bpy.ops.dqik, name).get_rna_type() for name in dir(bpy.ops.dqik)]


def public(struct: bpy.types.Struct) -> list[bpy.types.Property]:
    """A struct's properties that users see."""
    return [prop for prop in struct.properties if prop.identifier != "rna_type" and not prop.is_hidden]


def test_what_one_press_was_about_is_not_taken_for_the_next() -> None:
    """Blender begins with the last options: the frames of one foot would be planted for the other, too."""
    own = {"frame_start", "frame_end", "use_range", "all_frames", "bone", "target", "subtarget"}
    kept = [(kind.identifier, prop.identifier) for kind in operators() for prop in public(kind)
            if prop.identifier in own and not prop.is_skip_save]  # fmt: skip
    assert kept == [("DQIK_OT_attach", "bone")]  # which asks each time


def test_all_panels_are_registered_in_the_dqik_tab(ui: ModuleType) -> None:
    assert panels(ui)
    for cls in ui.PANELS:
        assert getattr(bpy.types, cls.__name__, None) is cls
    names = [cls.__name__ for cls in panels(ui)]
    for number, cls in enumerate(panels(ui)):
        assert not hasattr(cls, "bl_parent_id") or cls.bl_parent_id in names[:number]
        assert (cls.bl_space_type, cls.bl_category) == ("VIEW_3D", "DQIK")
        assert cls.bl_label
    top = [cls for cls in panels(ui) if not hasattr(cls, "bl_parent_id")]
    assert [cls.bl_label for cls in top] == ["Live", "Pose", "Motion", "Body", "Rig"]
    opened = [cls.bl_label for cls in panels(ui) if "DEFAULT_CLOSED" not in getattr(cls, "bl_options", ())]
    assert opened == ["Live", "Pose"]


def test_only_the_first_panel_is_there_without_an_armature(ui: ModuleType) -> None:
    assert shown(ui) == {"DQIK_PT_live"}
    rigs.made_active(rigs.empty((0, 0, 0)))
    assert shown(ui) == {"DQIK_PT_live"}
    rigs.made_active(rigs.mesh())
    assert shown(ui) == {"DQIK_PT_live"}


def test_panels_of_an_armature_in_object_and_pose_mode(ui: ModuleType, arm: bpy.types.Object) -> None:
    assert shown(ui) == {
        "DQIK_PT_live", "DQIK_PT_motion", "DQIK_PT_body", "DQIK_PT_contacts", "DQIK_PT_bone", "DQIK_PT_rig",
        "DQIK_PT_overlay", "DQIK_PT_solver", "DQIK_PT_compare",
    }  # fmt: skip
    bpy.ops.dqik.goal_add(bone="c")
    assert {"DQIK_PT_pose", "DQIK_PT_attach", "DQIK_PT_goal", "DQIK_PT_chain", "DQIK_PT_pole"} <= shown(ui)
    assert "DQIK_PT_limits" not in shown(ui)
    bpy.ops.object.mode_set(mode="POSE")
    arm.data.bones.active = arm.data.bones["b"]
    assert shown(ui) == {cls.__name__ for cls in panels(ui)}


@pytest.mark.parametrize(("bone", "kind", "name"), [
    ("DQIK hand.L", "HAND", "Left Hand"), ("forearm.R", "HAND", "Right Forearm"), ("DQIK foot.R", "FOOT", "Right Foot"),
    ("thigh.L", "FOOT", "Left Thigh"), ("DQIK hips", "OTHER", "Hips"), ("head", "OTHER", "Head"), (None, "NOTHING", ""),
])  # fmt: skip
def test_what_is_selected_decides_which_tools_are_offered(bone: str | None, kind: str, name: str) -> None:
    """In the panel, the menu and the pie, by the part of the body; the panel has the same rows for all."""
    tools = rigs.part("ui.tab.tools")
    ob = rigs.pose_mode(rigs.set_up(rigs.figure(), False))
    rigs.part("rig.controls.selection").select_only(ob, *filter(None, [bone]))
    if bone is None:
        ob.data.bones.active = None
    assert tools.kind_of_selection(bpy.context, ob) == kind
    offered = [(tool.operator, tool.options) for tool in tools.offered(kind)]
    assert (("dqik.attach", (("into_hand", True),)) in offered) == (kind == "HAND")
    assert (("dqik.limb_to_fk", ()) in offered) == (kind in ("HAND", "FOOT"))
    assert (("dqik.hold_here", ()) in offered) == (kind == "OTHER")
    assert ("dqik.select_controls", ()) in offered
    assert all(tools.row_for(row, kind) for row in tools.ROWS)
    assert bone is None or tools.name_of_selection(bpy.context, ob) == name


def test_set_up_from_the_panel_ends_with_a_hand_that_can_be_moved() -> None:
    """In Pose Mode, with its control selected, and a sentence that says what to do next."""
    ob = rigs.set_up(rigs.figure(), False)
    full_body = rigs.part("operators.body.full_body")
    figures = rigs.part("rig.figure.character").Character
    note = full_body._begin_posing(ob, figures.of(ob).figure)
    assert ob.mode == "POSE"
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["DQIK hand.L"]
    assert str(note) == "Left Hand is selected: press Live, then G to move it"
    ob.dqik.live = True
    assert str(full_body._begin_posing(ob, figures.of(ob).figure)).startswith("Left Hand is selected: press G")


def test_a_goal_that_is_left_out_is_not_called_met(arm: bpy.types.Object) -> None:
    """One without a target, beside one that is met."""
    status = rigs.part("ui.tab.status")
    for bone in ("c", "b"):
        bpy.ops.dqik.goal_add(bone=bone)
    rigs.live(arm)
    assert status._left_out(arm) == []
    arm.dqik.goals[1].target = None
    rigs.update()
    assert [goal.bone for goal in status._left_out(arm)] == ["b"]
    arm.dqik.goals[1].mute = True
    rigs.update()
    assert status._left_out(arm) == []


def test_goals_have_the_names_of_parts_of_the_body_unless_they_were_named(arm: bpy.types.Object) -> None:
    """Bones that are no part keep theirs."""
    bpy.ops.dqik.goal_add(bone="c")
    assert arm.dqik.goals[0].label == "c"
    ob = rigs.set_up(rigs.figure(), False)
    labels = [goal.label for goal in ob.dqik.goals]
    assert labels == ["Hips", "Head", "Left Hand", "Right Hand", "Left Foot", "Right Foot"]
    ob.dqik.goals[2].label = "Left Hand"
    assert ob.dqik.goals[2].name == "hand.L"
    ob.dqik.goals[2].label = "Sword"
    assert ob.dqik.goals[2].label == ob.dqik.goals[2].name == "Sword"
    ob.pose.bones["hand.R"].dqik_role, ob.pose.bones["forearm.R"].dqik_role = "NONE", "HAND_R"
    assert ob.dqik.goals[3].label == "hand.R"


def test_a_target_has_no_limits_to_set(ui: ModuleType) -> None:
    """The control of a hand is active: its settings as a bone would change nothing."""
    ob = rigs.pose_mode(rigs.set_up(rigs.figure(), False))
    for name, limited in (("DQIK hand.L", False), ("hand.L", True)):
        ob.data.bones.active = ob.data.bones[name]
        assert ("DQIK_PT_limits" in shown(ui)) == limited


def test_edit_mode_leaves_the_first_panel(ui: ModuleType, arm: bpy.types.Object) -> None:
    bpy.ops.dqik.goal_add(bone="c")
    bpy.ops.object.mode_set(mode="EDIT")
    assert shown(ui) == {"DQIK_PT_live"}
    assert not bpy.ops.dqik.goal_add.poll()


def test_a_deformed_mesh_and_a_target_stand_for_their_armature(ui: ModuleType, arm: bpy.types.Object) -> None:
    bpy.ops.dqik.goal_add(bone="c")
    other = rigs.made_active(rigs.empty((0, 0, 0)))
    assert shown(ui) == {"DQIK_PT_live"}
    assert not bpy.ops.dqik.solve.poll()
    rigs.made_active(arm.dqik.goals[0].target)
    assert "DQIK_PT_rig" in shown(ui)
    assert bpy.ops.dqik.solve() == {"FINISHED"}
    arm.dqik.goals[0].pole_target = other
    rigs.made_active(other)
    assert bpy.ops.dqik.solve.poll()
    skin = rigs.made_active(rigs.mesh())
    assert not bpy.ops.dqik.solve.poll()
    rigs.skin(arm, skin)
    assert bpy.ops.dqik.solve.poll()


def test_goals_without_bone_or_target_do_not_stop_a_panel_from_showing(ui: ModuleType, arm: bpy.types.Object) -> None:
    bpy.ops.dqik.goal_add(bone="c")
    arm.dqik.goals[0].bone, arm.dqik.goals[0].target = "gone", None
    arm.dqik.active_goal = 7
    assert "DQIK_PT_rig" in shown(ui)
    assert "DQIK_PT_pole" not in shown(ui)


def test_panels_name_operators_that_exist(ui: ModuleType) -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(ui.__file__ or "").parent.rglob("*.py")]
    texts = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    named = {text for text in texts if isinstance(text, str) and re.fullmatch(r"(dqik|wm)\.\w+", text)}
    assert "dqik.bake" in named
    for name in named:
        group, operator = name.split(".")
        assert operator in dir(getattr(bpy.ops, group)), f"there is no operator {name}"


def test_panels_name_properties_that_exist(ui: ModuleType, arm: bpy.types.Object) -> None:
    bpy.ops.dqik.goal_add(bone="c")
    owners = (arm.dqik, arm.dqik.goals[0], arm.dqik.couplings.add(), arm.dqik.avoid.add(), arm.dqik.status,
              arm.dqik.contacts.add(), arm.pose.bones["a"], arm.data.collections.new("Any"),
              bpy.context.scene.render, bpy.context.window_manager.dqik_overlay)  # fmt: skip
    named = {
        node.args[1].value
        for method, node in calls(ui)
        if method in ("prop", "prop_search") and isinstance(node.args[1], ast.Constant)
    }
    assert "live" in named
    for name in named:
        assert any(hasattr(owner, name) for owner in owners), f"nothing has a property {name!r}"


def test_every_operator_and_its_options_are_described() -> None:
    assert operators()
    for struct in operators():
        assert struct.description, f"{struct.identifier} has no tooltip"
        assert not struct.description.endswith("."), f"Blender adds the full stop of {struct.identifier}'s tooltip"
        assert len(struct.description) <= 2 * LINE, f"the tooltip of {struct.identifier} is long"
        for prop in public(struct):
            assert prop.description, f"{struct.identifier}.{prop.identifier} has no tooltip"


def test_every_property_is_described(arm: bpy.types.Object) -> None:
    bpy.ops.dqik.goal_add(bone="c")
    for owner in (arm.dqik, arm.dqik.goals[0], arm.dqik.status, arm.dqik.contacts.add()):
        for prop in public(owner.bl_rna):
            assert prop.description, f"{owner.bl_rna.identifier}.{prop.identifier} has no tooltip"
    for prop in public(bpy.types.PoseBone.bl_rna):
        if prop.identifier.startswith("dqik"):
            assert prop.description, f"PoseBone.{prop.identifier} has no tooltip"


def test_the_goals_target_can_be_selected_from_pose_mode(arm: bpy.types.Object) -> None:
    """Unless it is hidden, or there is none."""
    bpy.ops.dqik.goal_add(bone="c")
    target = arm.dqik.goals[0].target
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.dqik.target_select() == {"FINISHED"}
    assert (bpy.context.mode, bpy.context.object) == ("OBJECT", target)
    assert bpy.context.selected_objects == [target]
    rigs.made_active(arm)
    target.hide_set(True)
    rigs.refuses(bpy.ops.dqik.target_select, "hidden")
    arm.dqik.goals[0].target = None
    rigs.refuses(bpy.ops.dqik.target_select, "has no target")
    assert bpy.context.object == arm


def test_a_target_bone_can_be_selected(arm: bpy.types.Object) -> None:
    control = rigs.chain([(1, 0, 0), (1, 0, 1), (1, 0, 2)], "Control")
    rigs.made_active(arm)
    bpy.ops.dqik.goal_add(bone="c", target="Control", subtarget="b")
    assert bpy.ops.dqik.target_select() == {"FINISHED"}
    assert (bpy.context.mode, bpy.context.object) == ("POSE", control)
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["b"]
    assert bpy.context.active_pose_bone.name == "b"


def test_a_warning_of_each_kind_is_mended_by_its_button(arm: bpy.types.Object) -> None:
    """The situation, its warning, the button that the panel offers, and no warning afterwards."""
    mend = rigs.part("operators.live.mend")
    sessions = rigs.part("rig.frame.sessions").sessions

    def button() -> None:
        message = arm.dqik.status.message
        codes = [code for note in sessions.status(arm).notes for code in note.codes()]
        found = [one for code, one in mend.MENDED_BY.items() if code in codes]
        assert len(found) == 1, message
        operator, kind, _ = found[0]
        group, name = operator.split(".")
        call = getattr(getattr(bpy.ops, group), name)
        assert call(**({"kind": kind} if kind else {})) == {"FINISHED"}
        rigs.update()
        assert not arm.dqik.status.message

    bpy.ops.dqik.goal_add(bone="c")
    target = arm.dqik.goals[0].target
    rigs.live(arm)
    assert not arm.dqik.status.message
    arm.data.pose_position = "REST"
    button()
    arm.pose.bones["b"].dqik_translate = True
    rigs.update()
    button()
    rigs.goal(arm, "a", target, use_tail=False)
    rigs.update()
    button()
    arm.dqik.goals[1].mute = True
    target.hide_viewport = True
    rigs.update()
    button()
    rigs.blender_ik(arm, "b", rigs.empty((1, 1, 1)), chain_count=1)
    rigs.update()
    button()


def test_the_panel_advises_to_lock_the_interface_only_while_live(ui: ModuleType, arm: bpy.types.Object) -> None:
    bpy.ops.dqik.goal_add(bone="c")
    render = bpy.context.scene.render
    render.use_lock_interface = False
    assert not ui.render.is_needed(bpy.context)
    arm.dqik.live = True
    assert ui.render.is_needed(bpy.context)
    assert bpy.ops.dqik.lock_interface() == {"FINISHED"}
    assert render.use_lock_interface and not ui.render.is_needed(bpy.context)


def test_targets_that_are_hidden_in_renders_are_named_there(ui: ModuleType, arm: bpy.types.Object) -> None:
    """A render of the window does not move them. Those that another armature, not live, has do not matter."""
    bpy.ops.dqik.goal_add(bone="c")
    target = arm.dqik.goals[0].target
    target.name, target.hide_render = "Handle", True
    assert not ui.render.hidden_targets(bpy.context)
    arm.dqik.live = True
    assert str(ui.render.hidden_targets(bpy.context)).endswith(": 'Handle'")
    target.hide_render = False
    assert not ui.render.hidden_targets(bpy.context)
    controls = into_collection(target).collection
    assert not ui.render.hidden_targets(bpy.context)
    controls.hide_render = True
    assert str(ui.render.hidden_targets(bpy.context)).endswith(": 'Handle'")


def test_methods_are_named_by_what_they_are_for(arm: bpy.types.Object) -> None:
    """The short name stands behind, or the paper's name alone; the identifiers stay."""
    items = arm.dqik.bl_rna.properties["solver"].enum_items
    names = {item.identifier: item.name for item in items if item.identifier}
    assert names["PGS"] == "Balanced (PGS)"
    for identifier, name in names.items():
        short = name[name.index("(") + 1 : -1] if "(" in name else name
        words = short.upper().replace("-", " ").split()
        assert "_".join(words) == identifier or identifier in words
