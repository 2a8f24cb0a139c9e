# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps on whole motions: a figure that moves, and the buttons of the panel Whole Motion."""

from draw import Draw, NothingToDrawError, named, require_undo, step
from vocabulary import armatures


def _range(draw: Draw) -> tuple[int, int]:
    first = draw.one([1, 1, draw.random.randint(1, 6)])
    return first, draw.one([12, 12, draw.random.randint(first, 12)])


@step("whole", 2)
def make_walker(draw: Draw) -> str:
    if sum("arm.L" in ob.data.bones for ob in armatures()) > 1:
        raise NothingToDrawError
    place = draw.one([(0, 0, 0), draw.vector(1.0)])
    scale = draw.one([1.0, draw.number(0.3, 3.0)])
    every = draw.one([1, 1, draw.whole(2, 5)])
    return f"make_walker({draw.new_name('Walker')!r}, {place}, {scale}, {draw.number(0.0, 0.4)}, {every})"


@step("whole", 0.4)
def check_partners(draw: Draw) -> str:
    """Two figures get the motions of two others, the second one with the first as its partner."""
    if any("arm.L" in ob.data.bones for ob in armatures()):
        raise NothingToDrawError  # those that are there may stay, but four more are slow
    names = [draw.new_name("Partner") for _ in range(4)]
    lines = [f"make_walker({name!r}, {draw.vector(0.5)}, {draw.number(0.5, 2.0)}, {draw.number(0.0, 0.4)})"
             for name in names]  # fmt: skip
    one, two, first, second = names
    (start, end), words = _range(draw), f"both_give={draw.chance(0.5)}, preview={draw.chance(0.2)}"
    lines += [f"check_retarget(lambda: thing({first!r}), {one!r}, 1, 12)",
              f"check_retarget(lambda: thing({second!r}), {two!r}, {start}, {end}, partner={first!r}, {words})",
              f"for name in {names}: bpy.data.objects.remove(thing(name))"]  # fmt: skip
    return "\n".join(lines)


@step("whole", 2)
def check_whole_again(draw: Draw) -> str:
    """Undo and redo of the buttons."""
    require_undo()
    ob, other, (first, last) = draw.scene_rig(local=True), draw.scene_rig(), _range(draw)
    words = f"frame_start={first}, frame_end={last}"
    press = draw.one([
        f"press('mend_motion', {words})", f"press('retarget', source={other.name!r}, {words})",
        f"press('unbake', {words})", f"press('overlap', {words})", f"press('bake', smooth=1.0, {words})",
        f"press('in_betweens', {words})", f"press('remove_shakes', {words})", f"press('contacts_find', {words})",
        f"press('retarget', source={other.name!r}, partner={draw.scene_rig().name!r}, {words})",
    ])  # fmt: skip
    names = [one.name for one in draw.some(ob.pose.bones, 2)]
    return f"check_again(lambda: (select({named(ob)}, {names}), {press}), {draw.random.randint(1, 12)})"
