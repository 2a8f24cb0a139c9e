# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults to put into the extension on purpose: one line of code each, and what a user loses by it.

`mutants.py` puts them in one at a time and asks the random walks and the tests whether they notice.
"""

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault: in the file `path` the text `old`, which is there once, becomes `new`.

    breaks : what goes wrong then. tests, groups : the test files, or tests of them ("file::test"), and the groups of
    steps that concern it. visible : whether a user can notice it. quick : whether the walks notice it within few steps
    or, without groups, the tests within seconds. numpy : it only counts where NumPy solves.
    """

    name: str
    path: str
    old: str
    new: str
    breaks: str
    tests: str = ""
    visible: bool = True
    quick: bool = False
    numpy: bool = False
    groups: str = ""


_POSE, _LIVE, _STEADY = "rig/frame/memory/pose_memory.py", "live.py", "rig/frame/step/steady.py"
_ANIMATION, _TARGETS, _JOINTS = "rig/blender/animation.py", "rig/frame/read/targets.py", "rig/skeleton/bone_joints.py"
_FRAMES, _HOLDS, _CURVES = "rig/bake/frames.py", "rig/frame/memory/holds.py", "rig/curves.py"
_SESSIONS, _ONCE = "rig/frame/sessions.py", "rig/frame/commands.py"
_LINKS, _ROTATION, _MOTION = "rig/frame/read/links.py", "rig/blender/rotation.py", "rig/frame/step/motion.py"

FAULTS = [
    # -- keys, tracks, drivers -----------------------------------------------------------------------------------------
    Fault(
        "mute-in-strip", _ANIMATION,
        "yield from (curve for curve in curves.fcurves(strip) if _counts(curve, True))",
        "yield from curves.fcurves(strip)",
        "curves that are muted inside NLA strips count as keys", "test_animation_changes test_base_pose test_promises",
        groups="nla,keys,remembered",
    ),
    Fault(
        "mute-of-track", _ANIMATION, "if not track.mute and (track.is_solo or not solo):",
        "if track.is_solo or not solo:",
        "muted NLA tracks count as keys", "test_animation_changes test_base_pose test_promises",
        groups="nla,keys,remembered",
    ),
    Fault(
        "mute-of-curve", _ANIMATION, "return curve.mute or muted_group", "return muted_group",
        "muted curves count as keys", "test_animation_changes test_base_pose test_promises",
        quick=True, groups="keys,remembered",
    ),
    Fault(
        "left-keyed", _POSE, "np.where(free.rotations[rows], start.rotations[rows], keyed.rotations[rows])",
        "keyed.rotations[rows]", "a bone that leaves a chain after its keys were muted starts from them",
        "test_base_pose test_promises", groups="keys,remembered,goal",
    ),
    Fault(
        "drivers-unread", _ANIMATION, "_curve_contents(data.drivers, paths), data.use_nla, tracks",
        "(), data.use_nla, tracks", "new and muted drivers are not noticed", "test_animation_changes test_any_rig",
        groups="drivers,remembered",
    ),
    Fault(
        "paths-unread", "rig/frame/memory/prepared_rig.py",
        "if paths != self._paths or modes != self.modes or names or len(self.free.rotations) != len(ob.pose.bones):",
        "if not self._paths or modes != self.modes or names or len(self.free.rotations) != len(ob.pose.bones):",
        "keys that move to another bone are not noticed", "test_animation_changes test_base_pose test_promises",
        quick=True, groups="keys,remembered",
    ),
    Fault(
        "first-slot", _CURVES,
        'return None if owner is None else _bag(owner.action, getattr(owner, "action_slot", None))',
        "return None if owner is None else _bag("
        "owner.action, owner.action.slots[0] if LAYERED and owner.action and owner.action.slots else None)",
        "the keys of another object's slot count", "test_animation_changes test_base_pose test_promises test_bake",
        groups="slots,keys,remembered",
    ),
    Fault(
        "keys-of-another-frame", "rig/frame/read/keyed_pose.py", "curve.evaluate(frame)",
        "curve.evaluate(frame + 1.0)", "Live off after loading gives the keyed pose of another frame",
        "test_base_pose test_promises test_animation_changes",
        groups="keys,remembered",
    ),
    Fault(
        "remembered-frame", _POSE,
        "if keyed is not None and keyed.frame == view.frame and len(keyed.channels.rotations) == len(self.bones):",
        "if keyed is not None and len(keyed.channels.rotations) == len(self.bones):",
        "the keyed pose of a frame visited before counts", "test_base_pose test_promises test_scenes",
        groups="keys,remembered,scenes",
    ),
    Fault(
        "keys-not-given-back", _POSE, "now.put_some(self._keyed_channels(ob, view), ~free & self._ours())", "pass",
        "Live off leaves keyed bones in another pose until the frame changes", "test_base_pose test_promises",
        groups="keys,remembered",
    ),
    Fault(
        "whole-frame", _ONCE, "View(depsgraph, bpy.context.scene.frame_current_final, fresh=False)",
        "View(depsgraph, float(bpy.context.scene.frame_current), fresh=False)",
        "Live off between two frames gives the keyed pose of the frame before",
        "test_base_pose test_promises test_playback test_renders",
        groups="keys,remembered,previous",
    ),
    # -- the base pose and holds ---------------------------------------------------------------------------------------
    Fault(
        "frame-taken-for-hand", _POSE, "            edited &= free\n", "            pass\n",
        "keys that a frame change sets are taken for a pose by hand",
        "test_base_pose test_promises test_holds test_animation_changes",
        groups="keys,hand",
    ),
    Fault(
        "hand-forgotten", _POSE, "        self.base.put_some(posed, taken)\n", "",
        "what is turned by hand under Live is lost when Live goes off", "test_base_pose test_promises test_posing",
        quick=True, groups="hand",
    ),
    Fault(
        "hand-unnoticed", _STEADY,
        "if not reading.now.alike(self._written, rig.bones) or not prepared.is_animated_alike(ob):",
        "if not prepared.is_animated_alike(ob):", "a bone that is posed by a script between frames is overwritten",
        "test_playback test_base_pose test_promises test_posing",
        groups="hand,pose",
    ),
    Fault(
        "base-unsaved", _POSE, "        self._store(ob, np.flatnonzero(new))", "        pass",
        "the pose before Live is lost on saving", "test_base_pose test_promises",
        quick=True, groups="remembered",
    ),
    Fault(
        "base-stays", _POSE, "        self._unstore(ob, np.flatnonzero(left))", "        pass",
        "bones that no goal moves any more go back to an old pose after loading", "test_base_pose test_promises",
        groups="remembered,muted,keyed",
    ),
    Fault(
        "base-of-location", _POSE,
        "            now.put(self.base, self.rows)",
        "            now.rotations[self.rows] = self.base.rotations[self.rows]",
        "Live off leaves hips where they were moved to", "test_base_pose test_promises",
        groups="slides",
    ),
    Fault(
        "base-of-another-bone", _POSE, "if same and (not edited or self._names == tuple(ob.pose.bones.keys())):",
        "if same:", "after bones are reordered each has the base pose of another",
        "test_base_pose test_promises test_rigs",
        groups="edit",
    ),
    Fault(
        "base-in-old-mode", "rig/frame/memory/stored_base.py", "    if stored != mode:", "    if stored is None:",
        "the base pose is read in another rotation mode than it was stored in", "test_base_pose test_promises",
        groups="mode,remembered",
    ),
    Fault(
        "undo-keeps-memory", _SESSIONS,
        "self.by_uid.update({uid: session.renewed() for uid, session in self.by_uid.items()})",
        "", "undo leaves the base pose of what was undone",
        "test_base_pose test_promises test_posing test_holds",
        groups="undo,pose,hand",
    ),
    Fault(
        "adoption-unfound", _POSE, "        if adoption is not None:", "        if False:",
        "redo of a pose by hand leads to another pose", "test_base_pose test_promises test_posing test_holds",
        groups="undo,pose",
    ),
    Fault(
        "hold-missing", _HOLDS, "0.0 if cleared else POSED", "0.0", "bones that are posed by hand are not held",
        "test_holds test_posing",
        groups="hand",
    ),
    Fault(
        "hold-stays", _HOLDS, "0.0 if cleared else POSED", "POSED", "clearing a bone does not release it", "test_holds",
        groups="hand",
    ),
    Fault(
        "holds-lost-on-load", _LIVE, "def _on_load(*_: object) -> None:\n",
        "def _on_load(*_: object) -> None:\n    [holds.clear(ob.pose.bones) for ob in bpy.data.objects if ob.pose]\n",
        "loading releases all bones that are held", "test_holds test_base_pose test_promises",
        groups="hand,remembered,files",
    ),
    Fault(
        "hold-of-another-frame", _POSE, "if not prepared.own_holds[bone]:", "if True:",
        "after a pose that is not keyed, the next frame shows the hold of the frame that was left",
        "test_holds_in_time",
        groups="hand,shot",
    ),
    Fault(
        "keyed-not-kept", _HOLDS, "holds[keyed] = np.maximum(holds[keyed], KEYED)", "pass",
        "Keep Keyed Poses has no effect", "test_holds test_animation_changes",
        groups="keys",
    ),
    # -- targets and other armatures -----------------------------------------------------------------------------------
    Fault(
        "goal-mute", _TARGETS, "not goal.mute and (goal.influence > 0.0", "(goal.influence > 0.0",
        "muted goals count", "test_operators test_targets",
        quick=True, groups="muted",
    ),
    Fault(
        "removed-goal", _STEADY, "if ob.dqik.goals.keys() != self._names:", "if False:",
        "a goal that a script removes still counts", "test_playback test_targets test_operators",
        groups="untold",
    ),
    Fault(
        "target-not-a-number", "rig/blender/armature.py",
        "return isfinite(x + y + z + matrix.determinant())", "return True",
        "a target at no number breaks the pose", "test_bad_numbers",
        groups="odd",
    ),
    Fault(
        "pole-late", "rig/blender/dependencies.py",
        "for target, subtarget in ((goal.target, goal.subtarget), (goal.pole_target, goal.pole_subtarget)):",
        "for target, subtarget in ((goal.target, goal.subtarget),):",
        "a moved pole shows at the next frame only", "test_targets test_posing test_following",
        groups="late",
    ),
    Fault(
        "order-of-armatures", "rig/frame/evaluation_order.py",
        "uid: by_pose[uid] | (links.armatures_behind_goals(armatures[uid][0]) if counts[uid] else set())",
        "uid: by_pose[uid]",
        "a target on another live armature is a frame late", "test_following",
        groups="objects,follow",
    ),
    Fault(
        "parent-bone", "rig/blender/dependencies.py",
        'yield ob.parent, ob.parent_bone if ob.parent_type == "BONE" else ""', 'yield ob.parent, ""',
        "a target that hangs on a bone that its goal moves is not noticed", "test_following test_truthful_report",
        groups="follow",
    ),
    Fault(
        "follows-itself", "rig/frame/memory/prepared_rig.py",
        "self.follows_itself = self.rig.plan.passes > 0 or _follows_itself(evaluated, self.rig)",
        "self.follows_itself = False", "frames depend on frames before where constraints follow solved bones",
        "test_any_rig test_frames test_promises test_following",
        groups="constraints,follow",
    ),
    # -- from Blender to the solver and back ---------------------------------------------------------------------------
    Fault(
        "euler-order", _ROTATION, "quaternion.product(turns[2], quaternion.product(turns[1], turns[0]))",
        "quaternion.product(turns[0], quaternion.product(turns[1], turns[2]))", "Euler angles are read backwards",
        "test_rigs test_base_pose test_promises",
        groups="mode,keyed_pose",
    ),
    Fault(
        "euler-turns", _ROTATION, "return angle + _TURN * np.round((reference - angle) / _TURN)", "return angle",
        "baked Euler angles jump by whole turns", "test_bake test_promises",
        groups="bake,mode",
    ),
    Fault(
        "axis-angle-turns", _ROTATION, "_nearest_turn(turned * angle, reference[..., :1])", "turned * angle",
        "baked axis-angle rotations jump by whole turns", "test_bake test_promises test_rigs",
        groups="bake,mode",
    ),
    Fault(
        "scale-ignored", _LINKS, "return not bool((np.abs(own", "return False and bool((np.abs(own",
        "scaled bones miss their targets", "test_rigs test_any_rig",
        groups="scale",
    ),
    Fault(
        "location-ignored", _LINKS, "moved = bool(locations.any())", "moved = False",
        "moved bones miss their targets", "test_rigs test_any_rig",
        groups="pose",
    ),
    Fault(
        "inherit-rotation", _JOINTS, "(held or not pose[bone].bone.use_inherit_rotation)", "held",
        "bones that do not inherit rotation miss their targets", "test_rigs test_any_rig",
        groups="edit",
    ),
    Fault(
        "one-side-of-twist", _JOINTS, "    turning = [(axis, pair) for",
        "    twist = (-3.2, twist[1])\n    turning = [(axis, pair) for",
        "Twist Min has no effect", "test_rigs test_operators test_full_body",
        groups="limits",
    ),
    Fault(
        "one-side-of-swing", _JOINTS, "    turning = [(axis, pair) for",
        "    swing_x = (swing_x[0], 3.2)\n    turning = [(axis, pair) for",
        "Swing X Max has no effect", "test_rigs test_operators test_full_body",
        groups="limits",
    ),
    Fault(
        "weights-swapped", _JOINTS, '"position_weight": facts.position_weight',
        '"position_weight": facts.rotation_weight', "the weight of the position is that of the rotation",
        "test_rigs test_full_body test_missed_goals",
        groups="goal",
    ),
    Fault(
        "pole-sign", _JOINTS, "pole_angle=facts.pole_angle", "pole_angle=-facts.pole_angle",
        "elbows point to the wrong side of their pole", "test_operators test_rigs test_targets",
        groups="goal",
    ),
    Fault(
        "tail-or-head", "rig/frame/step/report.py", "bones[k].tail if any(goals[k].offset) else bones[k].head",
        "bones[k].head", "the report measures the wrong end", "test_truthful_report",
        groups="goal",
    ),
    Fault(
        "report-unmeasured", "rig/frame/step/report.py", "        if evaluated is None:", "        if True:",
        "All goals met is not measured on Blender's pose", "test_truthful_report",
        groups="constraints,scale,place",
    ),
    Fault(
        "influence", "rig/frame/read/question.py",
        "if min(shares, default=1.0) < 1.0:", "if min(shares, default=1.0) < 0.0:",
        "Influence has no effect between 0 and 1", "test_targets test_rigs test_frames test_promises",
        groups="keyed,bake",
    ),
    # -- Previous Frame and bakes --------------------------------------------------------------------------------------
    Fault(
        "previous-jumps", _MOTION, "0.0 < view.frame - self._frame <= 1.0", "0.0 < view.frame - self._frame <= 2.0",
        "Previous Frame follows a jump of two frames", "test_playback test_frames test_bake test_promises",
        groups="previous",
    ),
    Fault(
        "previous-backward", _MOTION, "0.0 < view.frame - self._frame <= 1.0", "abs(view.frame - self._frame) <= 1.0",
        "Previous Frame follows a step backward", "test_playback test_frames test_bake test_promises",
        groups="previous",
    ),
    Fault(
        "previous-never", _MOTION,
        "self.followed = self._has_before(next_frame, same_frame, view.fresh)", "self.followed = False",
        "Previous Frame never follows", "test_playback test_frames test_bake test_promises",
        groups="previous",
    ),
    Fault(
        "signs-in-bake", _FRAMES, "np.where((q * previous).sum(-1, keepdims=True) < 0.0, -1.0, 1.0)",
        "np.where((q * previous).sum(-1, keepdims=True) < 0.0, 1.0, 1.0)",
        "baked quaternions change sign, so bones spin between frames", "test_bake test_promises",
        groups="bake,pose",
    ),
    Fault(
        "bake-from-answer", "rig/frame/offline.py", "            reading.pose = sessions.of(ob).pose.copy(ob)",
        "            pass",
        "a bake starts from the last answer instead of the base pose", "test_bake test_promises",
        groups="bake",
    ),
    Fault(
        "bake-drops-keys", _CURVES, "times > last + 1e-3", "times > last + 1e9",
        "a bake into the current action removes keys after its range", "test_bake test_promises",
        groups="bake,keys",
    ),
    Fault(
        "bake-other-keys", _CURVES, "            curve.mute = False\n", "", "muted curves stay muted after a bake",
        "test_bake test_promises",
        groups="bake,keys",
    ),
    Fault(
        "bake-mode", "rig/bake/keys.py", "(path, frames[own], rotations[own, bone, : rotation.PATH_SIZES[path]])",
        "(path, frames[own], rotations[own, 0, : rotation.PATH_SIZES[path]])",
        "every baked bone gets the keys of the first", "test_bake test_promises",
        groups="bake",
    ),
    # -- other kinds of goals, couplings, contact ----------------------------------------------------------------------
    Fault(
        "obstacles-without-bodies", "rig/skeleton/plan.py", "avoided = avoided if bodies else []", "avoided = avoided",
        "a figure without bodies beside an obstacle cannot be baked", "test_contacts",
        groups="contact,bodies,bake",
    ),
    Fault(
        "compared-without-bodies", "rig/compare/measurement.py", "solver, options, old.contacts)", "solver, options)",
        "solvers cannot be compared on a figure with contact", "test_compare",
        groups="contact,bake",
    ),
    Fault(
        "curve-of-old-number", "rig/frame/read/kinds.py", "    goals = ob.original.dqik.goals\n",
        "    goals = ob.dqik.goals\n",
        "a script that removes a goal stops live solving of a goal on a curve", "test_goal_kinds test_promises",
        groups="kinds,untold",
    ),
    Fault(
        "loop-moves-one-side", "rig/skeleton/plan.py",
        "carriers = [bone for bone in armature.above(target) if bone not in shared]", "carriers: list[int] = []",
        "Close Loop leaves the bones that carry the target where they are", "test_closed_loops",
        groups="kinds",
    ),
    Fault(
        "loop-in-other-axes", "rig/frame/read/kinds.py",
        "return quaternion.product(quaternion.conjugate(carrier), rig.goal_axes[k])", "return rig.goal_axes[k]",
        "a bone turns askew to the target of its loop where that one's limits have axes of their own",
        "test_closed_loops", groups="kinds",
    ),
    Fault(
        "hinge-coupled-about-another-axis", "rig/skeleton/bone_joints.py",
        'if len(turning) == 1 and coupled <= {"XYZ"[turning[0][0]]}:', "if len(turning) == 1:",
        "a bone with one axis is coupled about that axis, whichever was asked", "test_couplings test_promises",
        groups="couplings,limits",
    ),
    Fault(
        "coupled-sign", "rig/skeleton/bone_joints.py", "offset = sign * link.offset", "offset = -sign * link.offset",
        "the offset of a coupling turns the bone the other way", "test_couplings test_promises",
        quick=True, groups="couplings",
    ),
    Fault(
        "floor-without-height", "rig/frame/read/targets.py", "ob.dqik.floor_height * _up(matrix)",
        "0.0 * _up(matrix)", "Height of the floor has no effect", "test_contacts",
        groups="contact,bodies",
    ),
    # -- operators -----------------------------------------------------------------------------------------------------
    Fault(
        "bake-keeps-live", "operators/live/bake.py", "        ob.dqik.live = False\n", "", "a bake leaves Live on",
        "test_bake test_promises",
        groups="bake",
    ),
    Fault(
        "off-by-one-range", "operators/frames.py", "range(start, end + 1, self.step)", "range(start, end, self.step)",
        "a bake leaves out its last frame", "test_bake test_promises",
        groups="bake",
    ),
    Fault(
        "user-target-removed", "rig/controls/goals.py",
        'own = (goal.target, goal.subtarget) if goal.own_target else (None, "")',
        "own = (goal.target, goal.subtarget)", "removing a goal deletes a target that the user chose",
        "test_targets test_operators test_controls",
        groups="operators,follow",
    ),
    # -- solvers -------------------------------------------------------------------------------------------------------
    Fault(
        "hold-scale", "solvers/group/stage.py", "released * HELD_RELUCTANCE ** self.hold[space.joint]",
        "released * HELD_RELUCTANCE ** -self.hold[space.joint]", "held bones move first instead of last",
        "test_holds ../solvers/test_holds",
        groups="hand",
    ),
    Fault(
        "priority", "solvers/group/stage.py", "len({goal.priority for goal in self.goals}) > 1", "False",
        "priorities have no effect", "test_missed_goals ../solvers/test_precedence ../solvers/test_goals",
        groups="goal",
    ),
    Fault(
        "stiffness", "solvers/group/stage.py", "joint /= np.maximum(1.0 - skeleton.stiffness, 1e-3) ** 2", "pass",
        "Stiffness has no effect", "test_rigs ../solvers/test_solve ../solvers/test_options",
        groups="setting",
    ),
    Fault(
        "limits-projection", "solvers/iterate/active_set.py",
        "projected = space.project(system.x + candidate) - system.x", "projected = candidate",
        "limits have no effect where NumPy solves", "../solvers/test_promises", numpy=True,
        groups="limits",
    ),
    Fault(
        "baked-frames-stay", "rig/frame/read/unmoved.py", " or not _is_allowed(prepared, pose):", ":",
        "couplings and limits that come after a bake have no effect on its frames", "test_couplings test_promises",
        groups="couplings,limits,bake,whole",
    ),
    Fault(
        "coupled-control", "rig/skeleton/plan.py", "        if led is None:\n            found.append(link)",
        "        if True:\n            found.append(link)",
        "a control that is coupled to the body turns with it, and a bake differs from Live",
        "test_couplings test_promises",
        groups="couplings,figure",
    ),
    Fault(
        "last-attachment", "rig/shot/attach.py",
        "spans = [(one.owner, (one.start - 2.0 * NEAR, ends[one])) for one in found]",
        "spans = list({one.owner: (one.start - 2.0 * NEAR, ends[one]) for one in found}.items())",
        "keys of a prop that was attached twice jump when the attachments are removed", "test_attach",
        groups="attach",
    ),
    # -- not visible: such a fault costs memory or time only, or Blender reports each change that would show it --------
    Fault(
        "old-target", _TARGETS, "if (0 if target is None else target.original.session_uid) != facts.target:",
        "if False:",
        "a target that was deleted or replaced is followed where it was", "test_changed_targets test_targets",
        groups="objects,follow", visible=False,
    ),
    Fault(
        "sessions-kept", _SESSIONS, "        self.by_uid.clear()\n", "",
        "sessions of files that were open before stay in memory", visible=False,
    ),
    Fault(
        "never-steady", _STEADY, "if not (view.fresh and view.in_viewport) or prepared.stale or view.edited:",
        "if True:",
        "every frame takes the whole step, which is slower", visible=False,
    ),
]  # fmt: skip
