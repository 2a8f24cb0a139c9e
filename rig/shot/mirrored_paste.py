# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that was pasted mirrored: limbs change between goals and keys with it, and the body shows what was pasted.

Blender mirrors the channels of bones, and DQIK how far goals lead the limbs (`rig/controls/pasted_settings.py`). Where
that has keys, or Auto Keying is on, it is keyed at this frame; it is as before up to the frame before, and again from
the next keyed pose on. A goal without keys is switched for the whole shot. The pasted pose is kept as the answer of its
frame, as that of a bake is: solved from another pose, it would end elsewhere where goals are missed.
"""

import bpy
import numpy as np

from .. import curves
from ..blender import bulk, channels, rotation
from ..blender.channels import Channels
from ..blender.dependencies import control_bones
from ..frame import offline
from ..frame.memory.arrivals import Mirrored
from ..frame.read import own_answers
from ..frame.read.question import FrameInput
from ..frame.read.view import View
from ..frame.sessions import sessions
from ..frame.step import frame as step
from ..keys import keyable, keying
from ..notes import Code, Note, listed
from . import holds, keys
from .limb_keys import GROUP

_MOVED = 1e-4  # of the figure's size


def key(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Key the switches of a paste before its frame is solved. Blender evaluates the keys, and the pose as it was."""
    brought = sessions.of(ob).arrivals.mirrored
    if brought is None:
        return
    view, now = View.now(depsgraph), channels.read(ob.pose.bones)
    if not _key(ob, brought, view):
        return
    view.evaluate()  # this brings keyed channels back that were pasted over
    channels.write(ob, now)
    ob.update_tag(refresh={"OBJECT"})
    view.evaluate()


def keep(ob: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    """Let the frame show the whole pose that was pasted, if its solve has not; if it cannot, the panel says so."""
    session = sessions.of(ob)
    brought, session.arrivals.mirrored = session.arrivals.mirrored, None
    if brought is None or not (brought.whole and ob.dqik.live):
        return
    view = View.now(depsgraph)
    view.evaluate()
    auto = keying.is_auto(view.depsgraph.scene)
    if not (auto or _moved(ob, brought, view)):
        return
    session.pose.take_pasted(ob, brought.pasted, session.rig, view)
    if auto:
        _key_as_pasted(ob, session.pose.unbent(ob, brought.pasted, session.rig), view)
        ob.update_tag(refresh={"TIME"})  # the frame as it is found again, to the last bit
        view.evaluate()
        session.pose.note_written(channels.read(ob.pose.bones))
        session.pose.note_own_keys(ob, session.pose.rows.tolist(), view)
        with offline.session(ob) as reading:
            _store(ob, offline.bake_frame(reading, ob, depsgraph).frame_input)
    _store(ob, step.read(session, ob, view, settled=True).frame_input)
    sessions.known.clear()
    session.motion.stop()
    step.write_answer(session, ob, step.solve(session, ob, view), view)
    view.evaluate()
    away = _moved(ob, brought, view)
    if away:
        session.pose.notes.append(Note(Code.PASTED_OTHERWISE, listed(away)))
        step.write_answer(session, ob, step.solve(session, ob, view), view)


def _store(ob: bpy.types.Object, asked: FrameInput | None) -> None:
    """Have the pose from which a frame starts kept as its answer."""
    if asked is not None:
        own_answers.store(ob, [asked.digest()])


def _key(ob: bpy.types.Object, brought: Mirrored, view: View) -> bool:
    """Key the switches that a paste has changed, where they are keyed at all; returns whether any was."""
    scene = view.depsgraph.scene.original
    auto = keying.is_auto(scene) and keying.adds_curves(auto=True)
    paths = {number: f"dqik.goals[{number}].influence" for number in brought.switched}
    keyed = any(curves.find(ob, path, 0) is not None for path in paths.values())
    changed = {number: share for number, share in brought.before.items() if share != ob.dqik.goals[number].influence}
    if not (changed and (auto or keyed)):
        return False
    here = holds.at_frame(ob, view)
    for number, before in changed.items():
        path, goal = paths[number], ob.dqik.goals[number]
        if (note := keyable.problem(ob, [path])) is not None:
            sessions.of(ob).pose.notes.append(Note(Code.SWITCH_NOT_KEYED, repr(goal.name), note))
            continue
        curve = curves.find(ob, path, 0)
        around = [curves.frame_before(view.frame)] if curve is not None or here.beside else []
        after = [time for time in here.beside if time > view.frame]
        values = [before if curve is None else curve.evaluate(time) for time in (*around, *after)]
        times = [*around, view.frame, *after]
        keys.write_steps(ob, path, GROUP, times, [*values[: len(around)], goal.influence, *values[len(around) :]])
    return True


def _key_as_pasted(ob: bpy.types.Object, pasted: Channels, view: View) -> None:
    """Give the keys of bones that Auto Keying has made at the view's frame the values that were pasted."""
    for number, bone in enumerate(ob.pose.bones):
        both = ((rotation.PATHS[bone.rotation_mode], pasted.rotations), ("location", pasted.locations))
        for path, values in both:
            for index, curve in keying.curves_of(bone, path).items():
                key = keying.key_at(curve, view.frame)
                if key is not None and key.co[1] != values[number, index]:
                    key.co_ui[1] = values[number, index]  # with its handles
                    curve.update()


def _moved(ob: bpy.types.Object, brought: Mirrored, view: View) -> list[str]:
    """The bones of the body that are elsewhere, or turned otherwise, than they were pasted."""
    shown = bulk.read(ob.evaluated_get(view.depsgraph).pose.bones, "matrix", 16)
    if len(shown) != len(brought.shown):
        return []
    away, own = np.abs(shown - brought.shown), control_bones(ob)
    size = max(float(np.ptp(brought.shown[:, 12:15], axis=0).max()), 1e-12)
    far = (away[:, 12:15].max(-1) > _MOVED * size) | (away[:, :12].max(-1) > 10.0 * _MOVED)
    return [bone.name for bone, is_far in zip(ob.pose.bones, far.tolist(), strict=True)
            if is_far and bone.name not in own]  # fmt: skip
