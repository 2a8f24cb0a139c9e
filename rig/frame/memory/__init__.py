# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of an armature between frames: the base pose, edits by hand, holds, the prepared rig.

There are four stores. Each is changed by its own methods, and `docs/frames.md` has the rules.

- On the bones, saved with the file and undone with it: base poses (`stored_base.py`) and holds (`holds.py`).
- In a session, until undo or loading: the base pose and what was written last (`pose_memory.py`), what
  places have shown (`put_back.py`), and what the bones had stored (`arrivals.py`).
- Across undo: what edits led to, by the count of adoptions that the armature stores (`adoptions.py`).
- Made anew when its contents differ: the prepared rig (`prepared_rig.py`, `contents.py`). Its rigs, as all that is kept
  by what it was made from, are `Remembered` (`rig/remembered.py`).

`PoseMemory.adopt_edits` is where an edit becomes part of the base pose: `_edits` finds the channels that a hand has
changed, `_is_put_back` takes edits back whose pose is shown again, `frame.solve` decides on what came with a frame, and
`_adopt` copies the rest, holds the bones and notes the adoption.
"""
