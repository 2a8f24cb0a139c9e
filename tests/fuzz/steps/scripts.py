# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that are a script with holes: what stands in braces is drawn (`Holes` in draw.py). Of several scripts, one is.

Each group has pairs of a weight and the script, or its alternatives.
"""

import bpy
from draw import MODES, Draw, filled, step

SOLVERS = ("PGS", "DLS", "CCD", "SQP", "PINV", "SVD", "TSVD", "SDLS", "TRANSPOSE", "ALTERNATIVE", "EXTENDED", "FABRIK",
           "TWO_BONE", "NEWTON", "BROYDEN", "GAUSS_SEIDEL")  # fmt: skip
PRESETS = [choice.identifier for choice in bpy.ops.dqik.couple.get_rna_type().properties["preset"].enum_items
           if choice.identifier != "CUSTOM"]  # fmt: skip
LEGACY = ("FULL", "NONE", "ALIGNED", "AVERAGE", "FIX_SHEAR", "NONE_LEGACY")
OPERATORS = (
    "solve", "solve", "reset_pose", "setup_full_body", "limits_from_ik", "limits_from_action", "limits_clear",
    "limits_preset", "goals_from_constraints", "goal_remove", "goals_clear", "target_select", "goals_mirror",
    "limits_mirror", "pin", "unpin",
)  # fmt: skip
WORDS = {"OPERATORS": OPERATORS, "MODES": MODES, "SOLVERS": SOLVERS, "PRESETS": PRESETS, "LEGACY": LEGACY}

_MADE = "made = {local}.copy()\nbpy.context.scene.collection.objects.link(made)"
_FITS = (", stance={one([0.0, 0.5, 1.0])}, own_speed={chance(0.3)}, by_name={chance(0.3)}, "
         "root={one(['AUTO', 'AUTO', 'BONE', 'OBJECT', 'IN_PLACE'])!r}, preview={chance(0.2)}, "
         "partner={one(['', '', *(ob.name for ob in armatures())])!r}, both_give={chance(0.5)}")  # fmt: skip
_GROUND = ("ground={one(['LOWEST', 'LOWEST', 'LEVEL', 'MESH'])!r}, ground_height={number(-0.3, 0.3)}, "
           "ground_object={one([ob.name for ob in bpy.data.objects if ob.type == 'MESH'] or [''])!r}")  # fmt: skip
_RANGE = "{whole(1, 4)}, {one([12, 12, draw.whole(5, 12)])}"

SCRIPTS: dict[str, list[tuple[float, str | tuple[str, ...]]]] = {
    "frame": [(6, "at_frame({frame()})")],
    "check": [(4, "check_frame({frame()}, {frame()})"), (1, "check_off_and_on(lambda: {rig}, {frames(2)})")],
    "target": [
        (4, "{target}.location = {place()}"),
        (1, "{target}.rotation_quaternion = {vector(1.0, 4)}"),
        (2, "key({target}, 'location', {places(1, 3)})"),
        (0.7, "{target}.animation_data_clear()"),
        (0.7, ("{goal}.target = {target}",) * 6 + ("{goal}.target = None",)),
        (0.7, ("{goal}.target = {rig}\n{goal}.subtarget = {draw.bone(rig).name!r}",) * 6
         + ("{goal}.target = {rig}\n{goal}.subtarget = {one(['', 'nobody'])!r}",)),
    ],
    "objects": [
        (0.5, "bpy.data.objects.remove({target})"),
        (0.5, "{target}.name = {new_name('Target_')!r}"),
        (0.6, (_MADE, _MADE, _MADE + "\nmade.data = made.data.copy()")),
        (0.3, _MADE + "\nbpy.data.objects.remove({target})"),  # the number of objects stays the same
        (0.4, "{local}.name = {new_name('Rig_')!r}"),
        (0.2, "{need(len(armatures()) > 1)}bpy.data.objects.remove({local})"),
        (0.3, "{local}.data = {draw.rig(local=True)}.data"),
        (0.5, ("{rig}.hide_viewport = {chance(0.4)}", "{target}.hide_viewport = {chance(0.4)}")),
        (0.3, ("bpy.context.scene.collection.objects.unlink({local})",
               "bpy.context.scene.collection.objects.link({local})")),
        # another rig made by a script, live before Blender has evaluated it, and one without bones
        (0.3, "made = bpy.data.objects.new({new_name('New')!r}, {local}.data)\n"
              "bpy.context.scene.collection.objects.link(made)\n"
              "make_goal(made, {draw.bone(local).name!r}, {target.name!r})\nmade.dqik.live = True"),
        (0.3, "made = bpy.data.objects.new('Boneless', bpy.data.armatures.new('Boneless'))\n"
              "bpy.context.scene.collection.objects.link(made)\n"
              "make_goal(made, 'a', {target.name!r})\nmade.dqik.live = True"),
    ],
    "follow": [  # a target on a bone, on an object, or on a constraint
        (1, ("{target}.parent = {rig}", "{target}.parent = None", "{target}.constraints.clear()",
             "{target}.parent = {rig}; {target}.parent_type = 'BONE'; {target}.parent_bone = {draw.bone(rig).name!r}",
             "made = {target}.constraints.new('COPY_LOCATION'); made.target = {rig}; "
             "made.subtarget = {draw.bone(rig).name!r}",
             "made = {target}.constraints.new('COPY_LOCATION'); made.target = {draw.target()}")),
    ],
    "odd": [  # places that are no numbers, and back
        (1, "{target}.location.x = {one(['nan', 'inf', '-inf'])}\nupdate()\nat_frame({frame()})"),
        (1, "{target}.location = {place()}\n{target}.rotation_quaternion = (1, 0, 0, 0)\n{target}.scale = (1, 1, 1)"),
        (0.5, ("{target}.scale = (0, 0, 0)", "{target}.rotation_quaternion = (0, 0, 0, 0)",
               "{target}.scale = (1, -1, 1)", "{target}.location = (1e12, 0, 0)")),
        (0.3, ("{rig}.scale = (0, 0, 0)", "{rig}.location.y = nan", "{rig}.scale = (-1, 1, 1)",
               "{rig}.location = (0, 0, 0); {rig}.scale = (1, 1, 1)", "{rig}.scale = (1e-5,) * 3")),
    ],
    "goal": [
        (1.5, "make_goal({rig}, {bone.name!r}, {target.name!r}, chain_length={whole(0, 3)}, "
              "use_rotation={chance(0.3)})"),
        (0.6, "{goal.ob}.dqik.goals.remove({goal.number})\n{goal.ob}.update_tag()"),
        (6, ("{goal}.mute = {chance(0.6)}", "{goal}.influence = {one([0, 1, 1, draw.number(-1, 2)])}",
             "{goal}.position_weight = {one([0, 1, draw.number(-1, 20)])}", "{goal}.rotation_weight = {number(0, 5)}",
             "{goal}.rotation_follows = {one([0, 0.5, 1, 1])}", "{goal}.use_position = {chance(0.6)}",
             "{goal}.use_rotation = {chance(0.5)}", "{goal}.use_tail = {chance(0.5)}",
             "{goal}.chain_length = {whole(-1, 5)}", "{goal}.priority = {whole(-2, 3)}", "{goal}.subtarget = ''",
             "{goal}.bone = {one([draw.bone(goal.ob).name] * 9 + ['nobody'])!r}",
             "{goal}.pole_angle = {number(-4, 4)}")),
        (0.8, ("{goal}.pole_target = {target}", "{goal}.pole_target = {target}", "{goal}.pole_target = None")),
    ],
    "untold": [  # as a script does it that says nothing to Blender
        (1, "{goal.ob}.dqik.goals.remove({goal.number})\ncheck_frame({frame()}, {frame()})"),
    ],
    "keyed": [
        (2, ("key({goal}, 'mute', {switches(3)})", "key({goal}, 'influence', {levels(3)})",
             "key({goal}, 'influence', {levels(3)})", "key({goal}, 'position_weight', {levels(3)})",
             "key({goal}, 'rotation_weight', {levels(3)})", "key({goal}, 'rotation_follows', {levels(3)})")),
        (0.6, "drive({goal.ob}, 'dqik.goals[{goal.number}].{one(['influence', 'mute'])}', "
              "[{one(['frame / 12', 'frame > 5', 'sin(frame) ** 2', '0'])!r}])"),
        (0.6, "unkey({rig}, 'dqik')"),
        (0.6, "key({rig}.dqik, 'live', {switches(3)})"),
        (0.6, "key({bone}, 'dqik_stiffness', {levels(2)})"),
    ],
    "setting": [
        (3, ("{rig}.dqik.iterations = {whole(-3, 80)}", "{rig}.dqik.tolerance = {one([0.0, -1.0, 1e-4, 1e-3, 10.0])}",
             "{rig}.dqik.rotation_tolerance = {one([0.0, 1e-3, 0.1, 9.0])}",
             "{rig}.dqik.damping = {one([-1.0, 0.0, 0.01, 1.0, 50.0])}",
             "{rig}.dqik.start_from = {one(['POSE', 'POSE', 'REST', 'PREVIOUS'])!r}",
             "{rig}.dqik.solver = {one(SOLVERS[:3])!r}", "{rig}.dqik.solver = 'PGS'")),
        (0.5, ("{rig}.dqik.order = {one(['TIP_TO_ROOT', 'ROOT_TO_TIP'])!r}", "{rig}.dqik.unit_angle = {number(0, 1)}",
               "{rig}.dqik.natural_pose = {number(0, 1)}")),
        (3, ("{bone}.dqik_lock = {chance(0.5)}", "{bone}.dqik_stiffness = {one([0.0, 0.5, 1.0, 3.0])}",
             "{bone}.dqik_translate = {chance(0.5)}", "{bone}.dqik_preferred_angle = {vector(1.5)}",
             "{bone}.dqik_use_limits = {chance(0.5)}", "{bone}.dqik_gain = {one([0.0, 1.0, 5.0])}")),
    ],
    "solvers": [(1, "{rig}.dqik.solver = {one(SOLVERS)!r}")],  # those that NumPy solves are slow: few walks have them
    "slides": [  # a bone that may move as well as turn, with a place of its own; connected bones cannot
        (1, ("{loose}.dqik_translate = {chance(0.8)}", "{loose}.location = {vector(0.4)}",
             "{loose}.dqik_translate = True\ncheck_kept(lambda: {rig}, {frame()}, 'forget')",
             "{loose}.dqik_translate = True\ncheck_off_and_on(lambda: {rig}, {frames(2)})")),
    ],
    "limits": [
        (0.5, "made = {bone}\nfor part in ('twist', 'swing_x', 'swing_z'):\n"
              "    for end in ('min', 'max'): setattr(made, 'dqik_' + part + '_' + end, 0)\n"
              "made.dqik_use_limits = True"),
    ],
    "stretch": [
        (1.5, "made = {bone}; made.dqik_stretch = {one([0.2, 1.0, 0.0])}; made.dqik_keep_volume = {chance(0.4)}\n"
              "made.dqik_shortest = {one([1.0, 0.6])}\n"
              "for one in made.children: one.bone.inherit_scale = {one(['NONE', 'NONE', 'FULL'])!r}"),
        (0.5, ("key({bone}, 'dqik_stretch', {levels(2)})", "key({bone}, 'scale', {places(1, 2)})",
               "{bone}.scale = {vector(1.5)}")),
        (1, "check_bake(lambda: {active}, {one(['NEW', 'CURRENT'])!r}, 4)"),
    ],
    "live": [(2, "{rig}.dqik.live = True"), (1, "{rig}.dqik.live = False")],
    "operators": [
        (1.5, "run({one(OPERATORS)!r}, {active})"),
        (0.5, ("select({active}, {bones(active, 2)})\nrun('goal_add', {active}, chain_length=2)\nactive({active})",
               "select({active}, {bones(active, 2)})\nrun('limits_clear', {active}, only_selected=True)\n"
               "active({active})",
               "select({active}, {bones(active, 2)})\nrun('pin', {active})\nactive({active})",
               "select({active}, {bones(active, 2)})\n"
               "run('bake', {active}, frame_start=1, frame_end=3, only_selected=True)\nactive({active})")),
        (0.6, ("run('goal_add', {active}, bone={draw.bone(active).name!r}, chain_length={whole(0, 3)})",) * 9
         + ("run('goal_add', {active}, bone='nobody', chain_length={whole(0, 3)})",)),
    ],
    "bake": [
        (1, "check_bake(lambda: {active}, {one(['NEW', 'CURRENT'])!r}, {whole(2, 5)})"),
        (0.1, "run('compare_solvers', {active}, frame_start=1, frame_end=2, solvers=set({some(SOLVERS, 2)}))"),
        (0.4, ("run('targets_to_pose', {active}, all=True)",
               "run('targets_to_pose', {active}, all=True, frame_start=1, frame_end=3)")),
    ],
    # -- poses, keys, tracks, drivers ----------------------------------------------------------------------------------
    "pose": [
        (3, "{bone}.{turn[0]} = {turn[1]}"),
        (1, "{bone}.location = {vector(0.5)}"),
        (1, "{bone}.matrix_basis.identity()"),
        (0.3, "{local}.data.pose_position = {one(['REST', 'POSE', 'POSE'])!r}"),
    ],
    "scale": [(1, ("{bone}.scale = ({number(0.5, 1.6)},) * 3", "{bone}.scale = {numbers(0.4, 1.6)}"))],
    "mode": [(1, "{bone}.rotation_mode = {one(MODES)!r}")],
    "keys": [
        (0.5, "{need(curves(rig))}for curve in curves({rig}):\n    if curve.group: curve.group.mute = {chance(0.6)}"),
        (0.5, "{need(curves(rig))}for curve in curves({rig}): "
              "curve.modifiers.new('NOISE').strength = {number(0.1, 0.4)}"),
        (0.5, "{rig}.animation_data.action = None"),
        (0.4, "{rig}.animation_data_clear()"),
    ],
    "nla": [
        (0.7, "{need(rig.animation_data)}made = {rig}.animation_data\n"
              "made.action_blend_type = {one(['REPLACE', 'COMBINE', 'ADD'])!r}\n"
              "made.action_influence = {number(0, 1, 1)}"),
        (1, "{need(curves(rig))}push_down({rig}, {one(['REPLACE', 'REPLACE', 'COMBINE', 'ADD'])!r})"),
    ],
    "drivers": [
        (0.7, "{need(driven(rig))}for curve in {rig}.animation_data.drivers: curve.mute = {chance(0.5)}"),
        # tagged as Blender's menu does; until then Blender itself evaluates the object's other drivers wrongly
        (0.5, "{need(driven(rig))}{rig}.animation_data.drivers.remove({rig}.animation_data.drivers[0])\n"
              "{rig}.update_tag()"),
    ],
    "edit": [
        (0.7, "{local}.data.bones[{draw.bone(local).name!r}].name = {new_name('bone')!r}"),
        (0.5, ("made = {local}.data.bones[{draw.bone(local).name!r}]\n"
               "made.use_inherit_rotation = not made.use_inherit_rotation",
               "{local}.data.bones[{draw.bone(local).name!r}].inherit_scale = {one(LEGACY)!r}",
               "{local}.data.bones[{draw.bone(local).name!r}].use_local_location = {chance(0.5)}")),
        (0.4, "active({own}, {one(['EDIT', 'POSE'])!r})\nat_frame({frame()})\nactive({own})"),  # a frame between
    ],
    "place": [
        (1, ("{rig}.location = {vector(2)}", "{rig}.rotation_euler = {vector(3)}", "{rig}.scale = {vector(2)}",
             "{rig}.scale = ({number(0.2, 3)},) * 3", "key({rig}, 'location', {places(2, 2)})")),
    ],
    # -- scenes and files ----------------------------------------------------------------------------------------------
    "undo": [
        (1, "bpy.ops.ed.undo_push(message='step')"),
        # as in the window, every change has been pushed before an undo, and redo comes straight after it
        (1, ("{undoable()}bpy.ops.ed.undo_push(message='step')\nbpy.ops.ed.undo()",
             "{undoable()}bpy.ops.ed.undo_push(message='step')\nbpy.ops.ed.undo()\nbpy.ops.ed.redo()")),
    ],
    "files": [(1, "save_and_load()")],
    "libraries": [
        (0.7, "{need(not any(linked()))}link_from_new_file({new_name('library')!r}, {chance(0.6)})"),
        (0.5, "save_and_load('shot')"),
    ],
    # -- what is remembered --------------------------------------------------------------------------------------------
    "remembered": [
        (1, ("check_kept(lambda: {local}, {frame()}, 'forget')", "check_kept(lambda: {local}, {frame()}, 'load')",
             "{undoable()}check_kept(lambda: {local}, {frame()}, 'undo')",
             "{local_bone}.dqik_hold = 1.0\ncheck_kept(lambda: {local}, {frame()}, {one(['forget', 'load'])!r})",
             "{undoable()}{local_bone}.dqik_hold = 1.0\ncheck_kept(lambda: {local}, {frame()}, 'undo')")),
        (1, ("check_off_here(lambda: {rig}, {frame()}, {one(['', 'forget', 'forget', 'load'])!r})",
             "check_off_here(lambda: {rig}, {number(1, 12, 1)}, {one(['', 'forget', 'forget', 'load'])!r})")),
    ],
    "hand": [
        (1.5, "check_hand(lambda: {local}, {local_bone.name!r}, {local_turn[0]!r}, {local_turn[1]}, {frame()})"),
        (0.5, "{draw.bone(local)}.dqik_hold = {one([0.0, 0.5, 1.0])}"),
        (0.7, "check_cleared(lambda: {local}, {draw.bone(local).name!r}, {frame()})"),  # Alt R under Live
    ],
    "muted": [(0.7, "check_muted(lambda: {rig}, {frame()})")],
    "previous": [
        (1, "check_previous(lambda: {rig}, {whole(3, 12)}, {one([-2, -2, -1.5, 1, 2, 5])})"),
        (0.7, "{own}.dqik.start_from = 'PREVIOUS'\ncheck_bake(lambda: {own}, 'NEW', {whole(3, 5)})\n"
              "{own}.dqik.start_from = 'POSE'"),
    ],
    "late": [
        (0.7, "make_empty('Pole', {place()})\n{own_goal}.pole_target = thing('Pole')\n"
              "check_at_once(lambda: {own_goal.ob}, lambda: thing('Pole'), {place()}, {frame()})"),
    ],
    "keyed_pose": [(0.7, "check_keyed_pose(lambda: {local}, {whole(1, 12)}, False)")],
    "keyed_missed": [(0.7, "check_keyed_pose(lambda: {local}, {whole(1, 12)}, True)")],
    "targets_to_pose": [
        (0.7, "check_targets_to_pose(lambda: {own}, {one([0, 0, 3])})"),
        (0.7, "drive({target}, 'location', ('{number(-1, 1)}', '{number(-1, 1)}', '{number(-1, 1)}'))"),
        (0.5, "for curve in curves({target}): curve.mute = {chance(0.7)}"),
    ],
    "sessions": [(0.15, "{need(local.dqik.goals)}check_sessions(lambda: {local}, 12)")],
    # -- other programs ------------------------------------------------------------------------------------------------
    "script": [(1, "check_put_back(lambda: step_through({local}, {frames(2)}, False), 'A script')")],
    "script_updates": [(1, "check_put_back(lambda: step_through({local}, {frames(2)}, True), 'A script')")],
    "handlers": [
        (0.5, "add_turner({local.name!r}, {local_bone.name!r}, {local_turn[0]!r}, {local_turn[1]}, {chance(0.5)})"),
        (1, "add_mover({target.name!r}, {vector(1.0)}, {chance(0.5)})"),
        (0.5, "remove_handlers()"),
        (1, "check_bake(lambda: {active}, 'NEW', {whole(2, 4)})"),
    ],
    "sims": [
        (1.5, "{need(bpy.data.meshes)}jump(list(range(1, {whole(3, 6)})))"),
        (0.6, "{need(len(bpy.data.meshes) < 4)}{one(['make_cloth', 'make_passive'])}({new_name('Sim')!r}, {own}, "
              "{draw.bone(own).name!r})"),
        (0.7, "{need(bpy.data.meshes)}check_put_back(lambda: jump((1, 2, 3)), 'A simulation')"),
    ],
    "join": [(1, "{need(len(armatures()) < 5)}duplicate({own})")],
    "append": [(1, "{need(len(armatures()) < 5)}take_from_saved([{local.name!r}], {chance(0.3)})")],
    # -- couplings, contact, figures -----------------------------------------------------------------------------------
    "couplings": [
        (1, ("run('uncouple', {active})",
             "select({active}, {bones(active, 2)})\nrun('uncouple', {active})\nactive({active})")),
        (1.5, "{coupling.ob}.dqik.couplings.remove({coupling.number})\n{coupling.ob}.update_tag()"),
        (1, "check_bake(lambda: {active}, {one(['NEW', 'CURRENT'])!r}, 4)"),
    ],
    "hang": [
        (1, ("run('setup_full_body', {own})", "select({own}, {bones(own, 1)})\nrun('pin', {own})\nactive({own})",
             "run('goal_add', {own}, bone={draw.bone(own).name!r}, chain_length={whole(0, 3)})")),
    ],
    "contact": [
        (3, ("{rig}.dqik.avoid_self = {chance(0.7)}", "{rig}.dqik.use_floor = {chance(0.7)}",
             "{rig}.dqik.use_floor = True", "{rig}.dqik.floor_height = {number(-1, 1)}")),
        (1, ("{undoable()}check_undo(lambda: {local}.dqik.avoid.clear())",
             "{undoable()}check_undo(lambda: setattr({local}.dqik, 'use_floor', {chance(0.7)}))",
             "{undoable()}check_undo(lambda: setattr({local}.dqik, 'avoid_self', {chance(0.7)}))")),
        (0.7, ("{rig}.dqik.floor = {target}", "{rig}.dqik.floor = {target}", "{rig}.dqik.floor = None")),
        (2, "{bone}.dqik_radius = {one([0.0, 0.05, 1e-9, draw.number(0.01, 0.3)])}"),
        (1, "check_bake(lambda: {active}, {one(['NEW', 'CURRENT'])!r}, 4)"),
    ],
    "bodies": [
        (0.7, "bpy.data.objects.remove({obstacle})"),
        (1, "active({active})\n{obstacle}.select_set(True)\nrun('avoid_add', {active})"),
        (1, "run('fit_capsules', {active})"),
    ],
    "figure": [
        (1.5, "{figure}.dqik.avoid_self = {chance(0.7)}; {figure}.dqik.use_floor = {chance(0.7)}"),
        (1, "run('couple', {figure}, preset={one(PRESETS[1:])!r})"),
        (1, "run({one(['limits_preset', 'limits_clear', 'limits_mirror'])!r}, {figure})"),
        (1, "check_bake(lambda: {figure}, {one(['NEW', 'CURRENT'])!r}, 3)"),
    ],
    "kinds": [
        (0.6, "run('goals_mirror', {active}, direction={one(['L', 'R'])!r})"),
        (1, "check_bake(lambda: {active}, 'NEW', {whole(2, 5)})"),
    ],
    # -- shots and whole motions ---------------------------------------------------------------------------------------
    "shot": [
        (2, "check_controls(lambda: {active}, {frame()})"),
        (1, "check_paths(lambda: {active}, {bones(active, 2)}, {chance(0.5)})"),
        (2, "check_pin(lambda: {own}, {bones(own, 2)}, {whole(3, 11)}, {chance(0.6)})"),
        (1, "check_flipped(lambda: {active}, {whole(1, 12)}, {one([[], draw.bones(active, 2)])})"),
    ],
    "grab": [
        (4, "check_grab(lambda: {own}, {draw.bone(own).name!r}, {way()}, {frame()}, {chance(0.8)})"),
        (2, "check_grab_cancelled(lambda: {own}, {draw.bone(own).name!r}, {one([[way()], [way(), way()]])}, {frame()}, "
            "{chance(0.8)})"),
    ],
    "seen": [
        (1, ("{active}.dqik.ghosts = {active}.dqik.arcs = False",
             *("at_frame({frame()})\nrun('see_motion', {active})",) * 2)),
    ],
    "pushed": [(1, "check_push_down(lambda: {local})")],
    "whole": [
        (2, "check_mend(lambda: {active}, " + _RANGE + ", " + _GROUND + ", find={chance(0.3)}, "
            "ballistic={chance(0.3)}, original={chance(0.7)})"),
        (2, "check_retarget(lambda: {active}, {draw.scene_rig().name!r}, " + _RANGE + _FITS + ")"),
        (2, "check_shakes(lambda: {active}, " + _RANGE + ", {one([1.0, 3.0])}, {chance(0.6)}, "
            "{one([[], [], draw.bones(active, 2)])})"),
        (2, ("check_looks(lambda: {active}, lambda: run('contacts_find', {active}, " + _GROUND
             + ", frame_start=1, frame_end=12), {whole(1, 12)}, 'Find Contacts')",
             "check_looks(lambda: {active}, lambda: run('contact_add', {active}), {whole(1, 12)}, 'Add Contact')",
             "check_looks(lambda: {active}, lambda: run('contact_drag', {active}, frames={whole(-3, 3)}, "
             "end={one(['START', 'END', 'WHOLE'])!r}), {whole(1, 12)}, 'Drag Contact')",
             "check_looks(lambda: {active}, lambda: run({one(['contact_remove', 'contacts_clear'])!r}, {active}), "
             "{whole(1, 12)}, 'Remove Contact')",
             "check_looks(lambda: {active}, lambda: run('check_range', {active}, frame_start=1, frame_end=6), "
             "{whole(1, 12)}, 'Check Range')")),
        (2, "check_in_betweens(lambda: {active}, {whole(1, 4)}, {one([12, 12, draw.whole(5, 12)])}, {chance(0.7)})"),
        (3, "check_fewer_keys(lambda: {active}, {whole(1, 4)}, {one([12, 12, draw.whole(5, 12)])}, {one([0.01, 0.1])}, "
            "{one([[], [], draw.bones(active, 2)])})"),
        (3, "check_edit_range(lambda: {active}, {bones(active, 2)}, {vector(0.4)}, {whole(1, 12)}, {one([1, 3, 6])})"),
        (2, "check_overlap(lambda: {active}, {bones(active, 3)}, {whole(1, 4)}, {one([12, 12, draw.whole(5, 12)])}, "
            "{one([0.0, 0.0, 1.0])}, {one(['AUTO', 'ON', 'OFF'])!r})"),
        (1, "check_smooth_bake(lambda: {own}, {whole(1, 3)}, {whole(4, 8)}, {one([0.2, 1.0])})"),
        (1.5, "check_shot(lambda: {own}, {frames(3)})"),
    ],
}  # fmt: skip


def _step(scripts: str | tuple[str, ...]):
    def drawn(draw: Draw) -> str:
        return filled(draw, scripts if isinstance(scripts, str) else draw.one(scripts), WORDS)

    return drawn


for group, rows in SCRIPTS.items():
    for weight, scripts in rows:
        step(group, weight)(_step(scripts))
