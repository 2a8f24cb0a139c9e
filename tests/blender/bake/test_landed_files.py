# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that earlier versions saved look, and give back the pose from before Live, as those versions showed it.

`tests/files/make.py` made the files and measured them with the versions that saved them.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from mathutils import Quaternion, Vector

FOLDER = Path(__file__).resolve().parents[2] / "files"
COMMITS = ("ebdd3eb", "ba4e591", "b7db689", "4b7afa9", "6bd2adc", "af0ae92", "ebbaec5")
ALIKE = ("af0ae92", "ebbaec5")
"""Solvers and the natural pose have hardly changed since these."""
SAVED_AT = 12
FRAMES = (1, 7, 12, 20)
FIGURES = {"live": ("Figure", "Body"), "off": ("Figure",)}
FOLDED = {"Figure": ("arm.R", "forearm.R", "hand.R", "thigh.L", "shin.L", "foot.L")}
"""Limbs whose keys hold them almost straight: since these versions they fold in the plane that their rest shows."""
REACH = 5e-3  # what a goal that was met may miss: 0.3 % of the figure's height
Way = Callable[[str, str], None]
PATHS = rigs.ROTATION_PATHS


def facts(commit: str, file: str, name: str) -> dict:
    """What the version that saved a file says about a figure in it."""
    return json.loads((FOLDER / f"{commit}-{file}.json").read_text(encoding="utf-8"))["figures"][name]


def opened(commit: str, file: str) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{commit}-{file}.blend"), load_ui=False)


def appended(commit: str, file: str) -> None:
    _from_library(commit, file, link=False)


def linked(commit: str, file: str) -> None:
    _from_library(commit, file, link=True)


def overridden(commit: str, file: str) -> None:
    _from_library(commit, file, link=True)
    scene, layer = bpy.context.scene, bpy.context.view_layer
    for ob in [ob for ob in scene.objects if ob.type == "ARMATURE" and ob.library is not None]:
        ob.override_hierarchy_create(scene, layer, do_fully_editable=True)
    rigs.update()


def _from_library(commit: str, file: str, link: bool) -> None:
    """The objects of a file, in an empty scene at the frame at which the file was saved."""
    bpy.context.scene.frame_set(SAVED_AT)
    with bpy.data.libraries.load(str(FOLDER / f"{commit}-{file}.blend"), link=link) as (there, wanted):
        wanted.objects = there.objects
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    rigs.update()


WAYS = [opened, appended, linked, overridden]
SOME = [(commit, opened) for commit in COMMITS]
SOME += [(commit, way) for commit in ("ebdd3eb", "4b7afa9", "ebbaec5") for way in WAYS[1:]]
"""All versions opened, and of the others those between which the formats differ."""
OPENED = list(dict.fromkeys([*SOME, *((commit, way) for commit in ALIKE for way in WAYS)]))


def figure(name: str) -> bpy.types.Object:
    """The figure of a name in the scene, the override rather than what it overrides."""
    found = [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.name == name]
    return min(found, key=lambda ob: ob.library is not None)


def turns(ob: bpy.types.Object, pose: dict[str, list[float]]) -> dict[str, float]:
    """Degrees from a pose to the shown one, by bone."""
    shown = rigs.evaluated(ob).pose.bones
    return {
        name: float(np.degrees(Quaternion(values[3:]).rotation_difference(shown[name].matrix.to_quaternion()).angle))
        for name, values in pose.items()
    }  # fmt: skip


def furthest(ob: bpy.types.Object, pose: dict[str, list[float]]) -> float:
    """The largest turn [deg] from a pose, the short way."""
    return max(min(turn, 360.0 - turn) for turn in turns(ob, pose).values())


def moved(ob: bpy.types.Object, pose: dict[str, list[float]]) -> float:
    """The largest distance of a bone's head from a pose."""
    shown = rigs.evaluated(ob).pose.bones
    return max(float(np.linalg.norm(np.subtract(shown[name].matrix.translation, at[:3]))) for name, at in pose.items())


def channels(bone: bpy.types.PoseBone) -> list[float]:
    return [*bone.location, *getattr(bone, PATHS[bone.rotation_mode])]


def assert_settings(ob: bpy.types.Object, saved: dict) -> None:
    """Those of the armature, its goals and its bones. Where the version had no natural pose, there is none."""
    assert ob.dqik.live == saved["live"]
    wanted = {"natural_pose": 0.0} | saved["settings"]
    assert {key: _number(getattr(ob.dqik, key)) for key in wanted} == {k: _number(v) for k, v in wanted.items()}
    assert len(ob.dqik.goals) == len(saved["goals"])
    for goal, settings in zip(ob.dqik.goals, saved["goals"], strict=True):
        targets = {key: settings.pop(key) for key in ("target", "pole_target")}
        assert {key: _number(getattr(goal, key)) for key in settings} == {k: _number(v) for k, v in settings.items()}
        assert {key: getattr(getattr(goal, key), "name", "") for key in targets} == targets
    for bone, settings in saved["bones"].items():
        own = ob.pose.bones[bone]
        assert own.rotation_mode == saved["modes"][bone]
        for key, value in settings.items():
            np.testing.assert_allclose(getattr(own, key), value, atol=1e-5)


def _number(value: object) -> object:
    return round(value, 5) if isinstance(value, float) else value


def assert_met(ob: bpy.types.Object, pose: dict[str, list[float]]) -> None:
    """Goals are met where the version met all, and limits hold.

    Else the worst miss is as large, but for 2.5 cm: which goals yield to which has changed since.
    """
    found = list(ends(ob))
    before, worst = max(saved_miss(ob, goal, pose) for goal, _ in found), max(miss for _, miss in found)
    assert worst < (REACH if before < 1e-3 else before + 0.025), (worst, before)
    for bone in ob.pose.bones:
        if bone.dqik_use_limits:
            _, x, z = rigs.twist_and_swing(rigs.local_rotation(ob, bone.name))
            assert np.degrees(bone.dqik_swing_x_min) - 0.1 < x < np.degrees(bone.dqik_swing_x_max) + 0.1
            assert np.degrees(bone.dqik_swing_z_min) - 0.1 < z < np.degrees(bone.dqik_swing_z_max) + 0.1


@pytest.mark.parametrize(("commit", "way"), OPENED)
def test_live_figures_are_as_saved(commit: str, way: Way) -> None:
    """Settings; the first look, before any change of frame and after an update without one; and frames."""
    saved = {name: facts(commit, "live", name) for name in FIGURES["live"]}
    way(commit, "live")
    for _ in range(2):
        for name, one in saved.items() if commit in ALIKE else ():
            assert_alike(figure(name), one["at_save"])
        rigs.update()
    for name, one in saved.items():
        assert_settings(figure(name), one)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        for name, one in saved.items():
            assert_met(figure(name), one["frames"][str(frame)])
            if commit in ALIKE:
                assert_alike(figure(name), one["frames"][str(frame)])


@pytest.mark.parametrize(("commit", "way"), OPENED)
def test_a_figure_that_is_not_live_is_as_saved(commit: str, way: Way) -> None:
    """Settings, the first look, and all frames."""
    saved = facts(commit, "off", "Figure")
    way(commit, "off")
    ob = figure("Figure")
    assert_settings(ob, saved)
    assert furthest(ob, saved["at_save"]) < 0.02
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert furthest(ob, saved["frames"][str(frame)]) < 0.02
        assert moved(ob, saved["frames"][str(frame)]) < 1e-4


@pytest.mark.parametrize(("commit", "way"), [(commit, way) for commit, way in SOME if way is not linked])
@pytest.mark.parametrize("file", FIGURES)
def test_live_off_gives_back_the_pose_from_before(commit: str, file: str, way: Way) -> None:
    """Channel by channel, in the rotation modes of the bones, at once and after frames.

    Linked armatures cannot be changed.
    """
    for frames in ((), FRAMES[:3]):
        rigs.new_file()
        way(commit, file)
        for name in FIGURES[file]:
            figure(name).dqik.live = True
        for frame in (*frames, SAVED_AT):
            bpy.context.scene.frame_set(frame)
        for name in FIGURES[file]:
            ob, saved = figure(name), facts(commit, file, name)
            rigs.live(ob, False)
            for bone, wanted in saved["channels_off"].items():
                np.testing.assert_allclose(channels(ob.pose.bones[bone]), wanted, atol=2e-5, err_msg=bone)
            assert furthest(ob, saved["pose_off"]) < 0.02


def ends(ob: bpy.types.Object) -> Iterator[tuple[bpy.types.PropertyGroup, float]]:
    """Goals that are asked for whole, and how far their bones are from their targets."""
    for goal in ob.dqik.goals:
        if goal.mute or goal.influence < 1.0 or goal.priority < 0 or goal.position_weight < 0.5:
            continue
        target = rigs.head(goal.target, goal.subtarget) if goal.subtarget else rigs.place(goal.target)
        at = rigs.tail(ob, goal.bone) if goal.use_tail else rigs.head(ob, goal.bone)
        yield goal, (at - target).length


def saved_miss(ob: bpy.types.Object, goal: bpy.types.PropertyGroup, pose: dict[str, list[float]]) -> float:
    """How far a goal's bone was from its target in a saved pose, at the present frame."""
    target = rigs.place(goal.target)
    place = np.array(pose[goal.bone][:3])
    if goal.subtarget:
        target = rigs.head(goal.target, goal.subtarget)
    if goal.use_tail:
        along = Quaternion(pose[goal.bone][3:]) @ Vector((0.0, ob.data.bones[goal.bone].length, 0.0))
        place = place + np.array(along)
    return float(np.linalg.norm(np.array(ob.matrix_world @ Vector(place)) - np.array(target)))


def assert_alike(ob: bpy.types.Object, pose: dict[str, list[float]]) -> None:
    """A figure has a pose: limbs that fold otherwise now to 9 degrees and 3.5 cm."""
    for folded, most_turn, most_way in ((False, 0.5, 1e-3), (True, 9.0, 0.035)):
        own = {name: at for name, at in pose.items() if (name in FOLDED.get(ob.name, ())) == folded}
        assert not own or (furthest(ob, own) < most_turn and moved(ob, own) < most_way), (folded, turns(ob, own))


@pytest.mark.parametrize(("commit", "way"), [(commit, way) for commit, way in SOME if way is not opened])
def test_other_files_show_what_the_file_itself_shows(commit: str, way: Way) -> None:
    """Appended, linked and overridden figures have the pose of the opened file, on each frame."""
    poses = []
    for bring in (opened, way):
        rigs.new_file()
        bring(commit, "live")
        own = []
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            own.append(np.concatenate([rigs.matrices(figure(name)) for name in FIGURES["live"]]))
        poses.append(own)
    assert np.degrees(rigs.turn(np.array(poses[0]), np.array(poses[1]))) < 0.05


NUMBERS = {
    "start_from": "POSE PREVIOUS REST FOLLOW", "order": "TIP_TO_ROOT ROOT_TO_TIP", "objective": "QV DQ",
    "dqik_role": "AUTO NONE HIPS SPINE NECK HEAD COLLAR_L COLLAR_R ARM_L ARM_R FOREARM_L FOREARM_R HAND_L HAND_R "
    "FINGER_L FINGER_R HIP_JOINT_L HIP_JOINT_R THIGH_L THIGH_R SHIN_L SHIN_R FOOT_L FOOT_R TOES_L TOES_R "
    "TWIST_L TWIST_R",
}  # fmt: skip
"""What files have stored since these settings were there, counted from 0."""


@pytest.mark.parametrize("name", NUMBERS)
def test_the_numbers_of_choices_in_files_stay(name: str) -> None:
    """Blender stores a choice as a number: one that is put in between would change what files hold."""
    ob = rigs.arm()
    owner = ob.pose.bones[0] if name.startswith("dqik_") else ob.dqik
    items = owner.bl_rna.properties[name].enum_items
    for number, choice in enumerate(NUMBERS[name].split()):
        assert items[choice].value == number, choice
    assert len({item.value for item in items}) == len(items)
