# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults in the mathematics of whole motions and in the tools of a shot, to put in on purpose.

As those of `faults.py`, but it is tests that have to notice them.
"""

from faults import Fault

_LOCK, _CONTACTS = "solvers/motion/foot_lock.py", "solvers/motion/contacts.py"
_PENDULUMS, _CHAINS = "solvers/motion/tails/pendulums.py", "solvers/motion/tails/chains.py"
_KEYS, _CUBICS = "solvers/motion/fewer_keys.py", "solvers/motion/cubics.py"
_ATTACH, _KEPT, _SPLITS = "rig/shot/attach.py", "rig/shot/rekey.py", "rig/keys/splits.py"
_PLANT, _PLANTING, _PINS = "rig/shot/plant.py", "solvers/motion/planting.py", "rig/shot/pins.py"
_LIMB, _KEYABLE, _UNBAKE = "rig/shot/limb_keys.py", "rig/keys/keyable.py", "rig/motion/reduce_keys.py"
_CLIP = "rig/clip/clip.py"
_MEND, _RANGES, _EDIT = "rig/motion/mend_motion.py", "rig/clip/contact_ranges.py", "rig/motion/edit_range.py"
_OVERLAP, _RETARGET, _RATE = "rig/motion/overlap.py", "rig/motion/retarget.py", "rig/clip/frame_rate.py"
_LOCK_TESTS, _KEY_TESTS = "../solvers/test_foot_lock", "../solvers/test_fewer_keys"
_TAIL_TESTS, _CLIP_TESTS = "../solvers/test_follow_through", "../solvers/test_clip"

MOTION_FAULTS = [
    # -- feet that stand -----------------------------------------------------------------------------------------------
    Fault(
        "contact-cut-at-start", _CONTACTS, "+ 1e-6 and begin > 0 and end < len(mask):", "+ 1e-6 and end < len(mask):",
        "a contact that the clip's first frame cuts is dropped", _LOCK_TESTS, quick=True,
    ),
    Fault(
        "contact-cut-at-end", _CONTACTS, "+ 1e-6 and begin > 0 and end < len(mask):", "+ 1e-6 and begin > 0:",
        "a contact that the clip's last frame cuts is dropped", _LOCK_TESTS,
    ),
    Fault(
        "lock-edge-acceleration", _LOCK, "last = len(slope) - 2", "last = len(slope) - 3",
        "knees may jerk on the last frame of a clip that is mended", _LOCK_TESTS,
    ),
    Fault(
        "lock-edge-fade", _LOCK, "blocks[i : frames - 2 + i, 2 + j - i] +=",
        "blocks[i + 1 : frames - 2 + i, 2 + j - i] +=",
        "corrections of feet may jump on the first frames of a clip", _LOCK_TESTS,
    ),
    Fault(
        "lock-signs", "solvers/motion/fine_time.py", "    found[1:][flips] *= -1.0\n", "",
        "a quaternion of the other sign turns a leg that shakes inside out", _LOCK_TESTS, quick=True,
    ),
    Fault(
        "lock-hips-share", _LOCK, "np.nan_to_num(own) - hips, move)", "np.nan_to_num(own), move)",
        "planted feet are off by what the hips give", _LOCK_TESTS,
    ),
    Fault(
        "knee-side", _LOCK, "np.where(straight <= 0.0, bend, -bend)", "np.where(straight <= 0.0, -bend, bend)",
        "mended knees bend to the other side", _LOCK_TESTS,
    ),
    Fault(
        "stance-length", _LOCK, "other[3] + apart * (length / max(float(lengths(apart)), _LEAST))", "other[3] + apart",
        "heel and ball of a foot stand nearer to each other than the foot is long", _LOCK_TESTS,
    ),
    Fault(
        "shared-slide", _CONTACTS, "    velocity[..., :2] -= (slide.share", "    velocity[..., :2] += (slide.share",
        "feet that slide with the hips' way are not found to stand", _LOCK_TESTS,
    ),
    Fault(
        "held-at-rest", _CONTACTS, "is_led = _wide(roots[begin:end, limb]) > _LED * leg", "is_led = True",
        "a hand that hangs from a body at rest counts as holding on", _LOCK_TESTS,
    ),
    Fault(
        "lowest-ground", _CONTACTS, "around, lowest = round(_AROUND * rate), _LOWEST * width(rate)",
        "around, lowest = len(height), _LOWEST * width(rate)",
        "feet on stairs and slopes stand on their lowest step only", _LOCK_TESTS,
    ),
    Fault(
        "smooth-ends", _CONTACTS, "2.0 * values[:1] - values[wide:0:-1]", "values[wide:0:-1]",
        "a figure that runs when its clip begins stands on the first frame", _LOCK_TESTS,
    ),
    Fault(
        "stands-in-the-air", _CONTACTS, "runs((lengths(velocity) < raised * _MAY) & (height < _HEIGHT[1])):",
        "runs(lengths(velocity) < raised * _MAY):", "a foot that is held still in the air stands", _LOCK_TESTS,
    ),
    # -- tails ---------------------------------------------------------------------------------------------------------
    Fault(
        "tail-carried", _PENDULUMS, "turners = np.where(chain.carried, chain.parents, -1)", "turners = chain.parents",
        "Overlap turns bones with the rotation of a parent that they do not inherit", _TAIL_TESTS,
        quick=True,
    ),
    Fault(
        "tail-reaction", _CHAINS, "[left @ (one - half), bend, bend @ hung]",
        "[left @ (one - half), dt * left, 0.0 * bend]",
        "what bends a bone does not bend the one that it hangs on back, so chains lash", _TAIL_TESTS,
    ),
    Fault(
        "tail-seam", _PENDULUMS, "slopes[0] = slopes[-1] = 0.5 *", "slopes[0] = slopes[-1] = 0.0 *",
        "a tail jumps where a loop begins again", _TAIL_TESTS,
    ),
    Fault(
        "tail-wind", _CHAINS, "np.array(spring.down) + np.array(spring.wind)", "np.array(spring.down)",
        "wind does not move tails", _TAIL_TESTS,
    ),
    # -- few keys ------------------------------------------------------------------------------------------------------
    Fault(
        "keys-end", _KEYS, "values = limb.values[:, samples].T",
        "values = limb.values[:, np.maximum(samples - 1, 0)].T",
        "the last key of a reduced motion is off the motion", _KEY_TESTS, quick=True,
    ),
    Fault(
        "keys-shared-error", _KEYS, "        errors[:, vectors] = after\n", "",
        "bones that lead one hand each take the whole of its bound", _KEY_TESTS,
    ),
    Fault(
        "keys-slope-order", _CUBICS, "slopes[:, 1, first], slopes[:, 0, last]",
        "slopes[:, 0, first], slopes[:, 1, last]",
        "reduced keys have the handles of their other side", _KEY_TESTS,
    ),
    Fault(
        "keys-joined", _KEYS, "if has_two[beside].all():", "if True:",
        "handles are made even where the bound forbids it", _KEY_TESTS, quick=True,
    ),
    Fault(
        "keys-must", _KEYS, "sorted(must | {last})", "sorted({last})", "keys are not where they have to be", _KEY_TESTS,
    ),
    # -- all frames as one motion --------------------------------------------------------------------------------------
    Fault(
        "clip-window-held", "solvers/clip/windows.py", "max(begin, held[0]) - first, max(end", "0, max(end",
        "a smooth bake jumps where two windows of frames meet", _CLIP_TESTS,
    ),
    Fault(
        "clip-limits-model", "solvers/clip/bounds.py", "felt = (excess != 0.0) & self._boxed",
        "felt = (excess > 0.0) & self._boxed",
        "a smooth bake is rough at lower limits", _CLIP_TESTS,
    ),
    Fault(
        "clip-unmet-keys", "solvers/clip/keys.py",
        "keeps[begin:end] = begin == 0 or end == len(met) or end - begin > FEW", "keeps[begin:end] = end - begin > FEW",
        "the first and the last frame of a smooth bake may be left out", _CLIP_TESTS,
    ),
    Fault(
        "clip-wraps", "solvers/clip/keys.py",
        "    way[:, wraps] -= FULL_TURN * np.round(way[:, wraps] / FULL_TURN)\n", "",
        "a free hinge goes the long way round between two frames", _CLIP_TESTS,
    ),
    Fault(
        "shot-border-held", "solvers/clip/windows.py", "max(end - (len(clip) - held[1]), 0)", "0",
        "a shot that is solved in stretches jumps where two of them meet",
        f"{_CLIP_TESTS}::test_a_part_of_a_motion_goes_into_the_frames_that_are_held_beside_it",
    ),
    Fault(
        "shot-never-joined", "rig/bake/whole_shot.py", "joined(own[part], [bool(pops[one]) for one in own[part]])",
        "joined(own[part], [False for one in own[part]])",
        "a joint pops where a shot's stretch has no smooth way from one border to the next",
        "test_whole_shot::test_it_pops_no_more_than_when_it_is_solved_in_one_piece",
    ),
    # -- attaching and letting go --------------------------------------------------------------------------------------
    Fault(
        "attach-twice", _ATTACH, "attachments.remove(one) if time - one.start < NEAR else attachments.end(one, time)",
        "attachments.end(one, time)",
        "who attaches twice on a frame has an attachment too many, which nothing shows",
        "test_attach::test_a_second_attachment_on_a_frame_takes_the_place_of_the_first",
    ),
    Fault(
        "attach-slides", _ATTACH, "    if end < inf:\n        key.interpolation = \"CONSTANT\"",
        "    if end < inf:\n        pass",
        "a prop slides in the hand before its next attachment",
        "test_attach::test_an_attachment_before_a_later_one_lasts_until_that_begins",
    ),
    Fault(
        "detach-before", _ATTACH,
        "        splits.split(curve, curves.frame_before(time)).interpolation = \"CONSTANT\"\n", "",
        "letting go moves the frames before it",
        "test_attach::test_nothing_moves_at_either_end",
    ),
    Fault(
        "attach-children-first", _KEPT, "for owner in sorted(places, key=_depth):",
        "for owner in sorted(places, key=_depth, reverse=True):",
        "controls that are attached with their parents jump",
        "test_attach::test_keys_of_bodies_that_were_made_while_attached_keep_their_places_and_turns",
    ),
    Fault(
        "kept-whole-turns", _KEPT, "return last[0] if mode == rotation.QUATERNION else old + last[0] - last[1]",
        "return old",
        "what is attached spins between keys that are written anew",
        "test_attach::test_keys_of_bodies_that_were_made_while_attached_keep_their_places_and_turns",
    ),
    Fault(
        "aside-start", _KEPT, "own.chosen(inside | (np.abs(own.times - start) <= NEAR))", "own.chosen(inside)",
        "keys that count again after letting go have other handles",
        "test_attach::test_attached_and_let_go_on_one_frame_is_as_before",
    ),
    Fault(
        "split-last-slope", _SPLITS, "keys = _with_slope(keys)", "pass",
        "a curve that goes on straight bends where something is attached",
        "test_plant::test_a_curve_that_goes_straight_on_behind_its_last_key_goes_on_so",
    ),
    # -- planting ------------------------------------------------------------------------------------------------------
    Fault(
        "plant-heel-for-ball", _PLANTING, "np.where(rolls[:, None] > 0.0, foot.ball, foot.heel)",
        "np.where(rolls[:, None] > 0.0, foot.heel, foot.ball)",
        "a planted foot with its heel up turns about its heel",
        "test_planted_toes::test_toes_with_motion_of_their_own_keep_it",
    ),
    Fault(
        "plant-in-the-air", _PLANTING, " & low[:, 1:] & low[:, :-1]", "",
        "a foot that is held still in the air is planted there",
        "test_plant::test_a_foot_that_is_held_still_in_the_air_is_not_planted",
    ),
    Fault(
        "plant-carried", _PLANT, "carried = np.ptp(way.spaces[begin : end + 1], axis=0).max() > _MOVES",
        "carried = False",
        "a planted foot goes along with an armature that moves",
        "test_plant::test_the_targets_of_an_armature_that_moves_stand_in_the_world",
    ),
    Fault(
        "plant-overshoot", _PLANT, "point.handle_left_type = point.handle_right_type = \"AUTO_CLAMPED\"", "pass",
        "a planted foot sways between its keys",
        "test_plant::test_few_keys_stay_few "
        "test_plant::test_few_keys_stay_as_they_are_outside_of_the_range_and_its_fade",
    ),
    # -- pins and holds ------------------------------------------------------------------------------------------------
    Fault(
        "pin-before", _PINS, "splits.split(curve, curves.frame_before(frame)).interpolation = \"CONSTANT\"",
        "splits.split(curve, frame).interpolation = \"CONSTANT\"",
        "a pin that is keyed again moves on the frames before",
        "test_pins::test_a_pin_that_is_pressed_again_keeps_the_frames_before",
    ),
    Fault(
        "pin-first-before", _PINS, "float(not mute), frame", "float(mute), frame",
        "a keyed pin holds on all frames before it",
        "test_pins::test_pins_are_keyed_with_auto_keying",
    ),
    Fault(
        "pin-mute-before", _PINS, "keying.beside(curves.find(ob, path, 0),", "keying.beside(None,",
        "a pin that is keyed again changes the frame before",
        "test_pins::test_a_pin_that_is_pressed_again_keeps_the_frames_before",
    ),
    Fault(
        "hold-neighbour", "rig/shot/holds.py", "beside = (*([max(before)] if before else ()),",
        "beside = (*([min(before)] if before else ()),",
        "a pose that is keyed changes the blocked pose before it",
        "test_holds_in_time::test_a_pose_between_blocked_frames_and_one_more",
    ),
    Fault(
        "grab-beside-a-roll", "rig/skeleton/rig.py", " and one.facts.point is None  #", "  #",
        "a body whose foot rolls cannot be grabbed", "test_grab::test_a_body_whose_foot_rolls_is_dragged", quick=True,
    ),
    Fault(
        "straight-limbs-bend", "rig/frame/read/unmoved.py", " | (poles < _NEAR).all(-1)", "",
        "straight limbs of a motion bend by a degree after Set Up",
        "test_from_animation::test_straight_limbs_stay_straight", quick=True,
    ),
    Fault(
        "poles-of-straight-limbs", "rig/frame/read/unmoved.py", "| (poles < _NEAR)", "| (poles < 9.0)",
        "a pole that turns by a degree moves nothing",
        "test_from_animation::test_elbows_follow_poles_that_turn_by_little", quick=True,
    ),
    Fault(
        "few-keys-without-a-size", "operators/motion/reduce_keys.py", "        if not size:", "        if size < 0.0:",
        "Fewer Keys says nothing that one can read about a figure of size 0",
        "test_unbake::test_a_figure_without_a_size_is_refused", quick=True,
    ),
    # -- switches of limbs ---------------------------------------------------------------------------------------------
    Fault(
        "switch-slopes", "rig/shot/keys.py", "(change - bulge) / span, (change + bulge) / span",
        "(change + bulge) / span, (change - bulge) / span",
        "a limb that is posed by its bones sways between frames",
        "test_limb_switch::test_a_range_to_keys_of_the_bones",
    ),
    Fault(
        "switch-outside", _LIMB, "in () if had_keys else beside.items():", "in ():",
        "a limb that had no keys keeps the pose of a switch on all other frames",
        "test_limb_switch::test_only_the_limb_is_keyed",
    ),
    Fault(
        "switch-roll", _LIMB, "[rolls[0], 0.0, *rolls[2:]]", "rolls",
        "a foot that goes back to its control rolls twice",
        "test_foot_roll::test_a_rolled_limb_is_switched_without_a_jump",
    ),
    # -- whole motions -------------------------------------------------------------------------------------------------
    Fault(
        "unbake-signs", "operators/motion/reduce_keys.py", "            reduce_keys.untwist(every, times)\n", "",
        "a bone spins where its quaternions change their signs",
        "test_unbake::test_quaternions_of_either_sign_are_one_rotation",
    ),
    Fault(
        "unbake-signs-after", _UNBAKE, "signs = np.cumprod(np.append(1.0, np.where(flips, -1.0, 1.0)))",
        "signs = np.append(1.0, np.where(flips, -1.0, 1.0))",
        "a bone spins one frame after its quaternions change their signs",
        "test_unbake::test_quaternions_of_either_sign_are_one_rotation",
    ),
    Fault(
        "unbake-signs-range", _UNBAKE, "keys.columns[name][:, 1] *= signs",
        "keys.columns[name][:, 1] *= np.where(inside, signs, 1.0)",
        "a bone spins behind the range in which it got fewer keys",
        "test_unbake::test_quaternions_of_either_sign_are_one_rotation",
    ),
    Fault(
        "unbake-outside", _UNBAKE, "                splits.keep_outside(one.owner, path, times[::2])  # whole frames\n",
        "                pass\n",
        "fewer keys in a range change the frames beside it",
        "test_unbake::test_few_keys_beside_the_range_keep_their_ways",
    ),
    Fault(
        "mend-uncarried", _MEND, "above = above if is_carried else np.broadcast_to(quaternion.IDENTITY, above.shape)",
        "above = above.copy()",
        "feet that do not turn with their shins are turned by Mend Motion",
        "test_mend_motion::test_a_foot_that_does_not_inherit_rotation_stands_too",
    ),
    Fault(
        "mend-hips-axes", _MEND, "np.linalg.solve(motion.axes, planted.hips[..., None])",
        "np.linalg.solve(motion.axes.swapaxes(1, 2), planted.hips[..., None])",
        "mended hips go another way where their bone is turned",
        "test_mend_motion::test_feet_stand_as_blender_shows_them",
    ),
    Fault(
        "contact-last-frame", _RANGES, "inside = (at >= one.first) & (at <= one.last)",
        "inside = (at >= one.first) & (at < one.last)",
        "a foot slides on the last frame of its contact",
        "test_contact_ranges::test_mend_motion_plants_the_contacts_of_the_list_only",
    ),
    Fault(
        "contact-merge", _RANGES, "lo = max((one.last + 2 for", "lo = max((one.last + 1 for",
        "a contact that is dragged to another one becomes one with it",
        "test_contact_ranges::test_a_contact_is_dragged_until_the_next_one",
    ),
    Fault(
        "edit-never-moves", _EDIT, "ends.append(end if abs(end - time) < most else time)", "ends.append(end)",
        "a change of what never moves reaches over the whole motion",
        "test_edit_range::test_a_foot_that_never_moves_is_changed_within_the_radius_only",
    ),
    Fault(
        "edit-signs", _EDIT, "    turned *= np.copysign(1.0, turned @ turned[0])[:, None]\n", "",
        "a key of Auto Keying is not found where quaternions change their signs",
        "test_edit_range::test_auto_keying_is_noticed_where_quaternions_change_their_sign",
    ),
    Fault(
        "edit-rolling-foot", _EDIT, "np.linalg.norm(further - own, axis=-1).min() > slow",
        "np.linalg.norm(further - own, axis=-1).max() > slow",
        "a foot that rolls about its ball does not count as standing",
        "test_edit_range::test_a_foot_that_rolls_about_its_ball_is_moved_with_its_whole_stand",
    ),
    Fault(
        "overlap-turns", _CLIP, "start = found[row] = rotation", "found[row] = rotation",
        "a tail spins between two keys",
        "test_overlap::test_a_tail_that_goes_round_does_not_spin_between_its_keys",
    ),
    Fault(
        "overlap-crossed", _OVERLAP, "        if tip.angle(tail) > _BESIDE:\n            off.add(name)\n", "",
        "the last bone of an imported tail swings about its own end",
        "test_overlap::test_bones_that_point_across_their_chain_follow_alike",
    ),
    Fault(
        "retarget-turns", _CLIP, "start = found[row] = rotation", "found[row] = rotation",
        "a bone of the other body spins between two frames",
        "test_retarget::test_what_goes_round_does_not_spin_between_keys",
    ),
    Fault(
        "retarget-roll", _RETARGET, "np.where(forward[:, 2:] > 0.0,", "np.where(forward[:, 2:] < 0.0,",
        "a foot of the other body that rolls slides",
        "test_retarget::test_a_foot_rolls_about_ball_and_heel_on_another_foot",
    ),
    Fault(
        "retarget-inherits", "rig/motion/retargeted_keys.py", "return carried(bone) if body.inherits[bone] else whole",
        "return carried(bone)",
        "bones that do not turn with their parents are turned wrongly",
        "test_retarget::test_bones_that_do_not_inherit_rotation_move_alike",
    ),
    Fault(
        "rate-stretched", _RATE, "render.fps_base * render.frame_map_old / render.frame_map_new",
        "render.fps_base * render.frame_map_new / render.frame_map_old",
        "the likely rate is wrong where time is stretched",
        "test_frame_rate",
    ),
    # -- what may be keyed, and ends of feet ---------------------------------------------------------------------------
    Fault(
        "keys-in-locked-group", _KEYABLE, "curve.lock or (group is not None and group.lock) or", "curve.lock or",
        "keys in locked groups are written or silently lost",
        "test_keyable::test_keys_that_would_be_lost_or_hidden_are_refused[locked_group-plant]",
    ),
    Fault(
        "keys-under-strips", _KEYABLE, "covers = data.action_extrapolation == \"HOLD\" and ", "covers = ",
        "keys that strips hide outside of the action are written",
        "test_keyable::test_keys_that_would_be_lost_or_hidden_are_refused[strip_outside-plant]",
    ),
    Fault(
        "keys-muted-driver", _KEYABLE, "for curve in data.drivers if not curve.mute}", "for curve in data.drivers}",
        "a driver that is muted forbids keys",
        "test_keyable::test_what_hides_no_keys_does_no_harm[muted_drivers]",
    ),
    Fault(
        "ends-too-long", "rig/figure/ends.py", "_LEAST * line < length <= most * line", "_LEAST * line < length",
        "feet of imported files are as long as their file says, ten times the figure",
        "test_imported_figures::test_a_foot_is_no_longer_than_its_leg_allows",
    ),
    Fault(
        "limbs-of-helpers", "rig/figure/beside.py", "own = [bone for bone in path if not names[bone].helper]",
        "own = list(path)",
        "the goal of a further limb is at a helper bone beyond its end",
        "test_imported_figures::test_helper_bones_at_the_tips_of_further_limbs_get_no_goals",
    ),
    Fault(
        "end-of-helper", "rig/figure/beside.py", "    if name.helper:\n        return float(",
        "    if name.helper:\n        return 0.0 * float(",
        "a loose foot that is named as an IK control has no goal",
        "test_imported_figures::test_a_loose_foot_may_have_the_name_of_an_ik_control",
    ),
    # -- what walks have found -----------------------------------------------------------------------------------------
    Fault(
        "pin-bends-limb", "rig/controls/pins.py", "goal.pole_angle = goal.pole_angle if angle is None else angle",
        "goal.pole_angle = goal.pole_angle",
        "Pin turns a limb that is posed by its bones toward its pole",
        "test_pins::test_a_pin_leaves_the_pole_of_its_limb_to_the_other_goal",
    ),
    Fault(
        "pin-keys-pole", _PINS, "    for owner in _targets(ob, own) if pinned else ():",
        "    for owner in goals.target_owners(ob.dqik.goals[k] for k in own) if pinned else ():",
        "Pin keys the pole of the limb, whose motion then steps",
        "test_pins::test_a_pin_leaves_the_pole_of_its_limb_to_the_other_goal",
    ),
    Fault(
        "limb-takes-others", "rig/shot/limb_switch.py", "if owner in leading and _moves(owner, here, there):",
        "if False:",
        "Limb to IK moves a control that leads another figure, too",
        "test_limb_switch::test_a_control_that_leads_another_limb_too_is_not_moved",
    ),
    Fault(
        "keys-hide-misses", "rig/frame/step/report.py", "or not (acting is None or binding.number in acting):",
        "or False:", "goals that miss by little are said to be met beside a limb that is left to its keys",
        "test_missed_goals::test_a_limb_that_is_left_to_its_keys_hides_no_miss",
    ),
    Fault(
        "connected-target", "rig/controls/goals.py", "return bone is not None and bone.use_connect and",
        "return False and",
        "Plant says that it has planted a connected bone, which it cannot move",
        "test_targets::test_a_connected_bone_is_a_target_that_cannot_be_moved",
    ),
    Fault(
        "scale-as-stretch", "rig/frame/memory/pose_memory.py",
        "return not animation.animates(bone.id_data, bone.path_from_id(\"scale\"))", "return True",
        "the first frame of a file shows a bone whose scale has keys at its rest length",
        "test_stretch::test_an_animated_scale_stays",
    ),
    Fault(
        "holds-of-other-layer", "rig/frame/memory/holds.py", "    if view.fresh and own.any():", "    if False:",
        "a view layer that no window shows is solved with the keyed holds of the frame before",
        "test_scenes::test_keyed_holds_are_those_of_the_frame_in_each_view_layer",
    ),
    Fault(
        "mirrored-turns", _CLIP, "[..., None, None] < 0.0, -lengths, lengths",
        "[..., None, None] < 0.0, lengths, lengths",
        "feet of mirrored figures slide more once they are mended", "test_mirrored_figures",
    ),
    Fault(
        "spins-untwisted", _UNBAKE, "inside[:-1] & short", "inside[:-1]",
        "Fewer Keys turns a joint the other way where keys of opposite signs are frames apart",
        "test_unbake::test_a_bone_that_spins_over_several_frames_goes_on_spinning",
    ),
    Fault(
        "untwisted-handles", _UNBAKE, "            _stay(keys, *stays)\n", "",
        "Fewer Keys moves an arm before a key whose sign changes",
        "test_unbake::test_a_bone_that_spins_over_several_frames_goes_on_spinning",
    ),
]  # fmt: skip
"""Faults that tests have to notice."""
