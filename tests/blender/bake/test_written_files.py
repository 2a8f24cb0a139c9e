# SPDX-License-Identifier: GPL-3.0-or-later
"""What `dqik_bake` writes: complete or not at all. Disks that are full are files that may not grow beyond a size."""

import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
import pytest
import rigs
from pytest import CaptureFixture, MonkeyPatch
from situations import installed

OLD = b"what was there"


def command(*arguments: str) -> int:
    """Run the command as Blender would."""
    module = rigs.part("operators.commands.command_line")
    return module.bake(("--armature", "Arm", "--start", "1", "--end", "3", *arguments))


def shot(path: Path, compress: bool = False, noise: int = 0) -> Path:
    """A file with an arm that follows a target, saved and open; `noise` vertices make it large."""
    ob = rigs.chain([(0, 0, 0), (0, 0, 1), (0, 0.3, 1.9)], "Arm")
    rigs.goal(ob, "b", rigs.empty((0.5, 0.5, 0.9)))
    if noise:
        mesh = bpy.data.meshes.new("Noise")
        mesh.vertices.add(noise)
        mesh.vertices.foreach_set("co", np.random.default_rng(1).random(3 * noise, dtype=np.float32))
        mesh.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    bpy.ops.wm.open_mainfile(filepath=str(path))  # only then Blender knows how it is compressed
    return path


def beside_an_old_file(folder: Path) -> Path:
    """A shot is open, and there is already a file where the result goes; that one."""
    shot(folder / "shot.blend")
    (folder / "out.blend").write_bytes(OLD)
    return folder / "out.blend"


def opens(path: Path) -> bool:
    """Whether Blender opens a file and finds the baked arm in it."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bool(rigs.keys(bpy.data.objects["Arm"]))


@contextmanager
def no_file_beyond(size: int) -> Generator[None]:
    """Writes beyond a size fail, in the middle of a file, as they do on a full disk."""
    import resource

    before, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize("share", [0.001, 0.5, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("compress", [False, True])
def test_a_full_disk_changes_nothing(compress: bool, share: float, tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """Wherever the writing fails: exit code 1, one sentence, and the folder as before."""
    if not hasattr(signal, "SIGXFSZ"):
        return
    source, out = shot(tmp_path / "shot.blend", compress, noise=50_000), tmp_path / "out.blend"
    assert command("--output", str(out)) == 0
    size = out.stat().st_size
    out.write_bytes(OLD)
    names = sorted(os.listdir(tmp_path))
    bpy.ops.wm.open_mainfile(filepath=str(source))
    capfd.readouterr()
    with no_file_beyond(int(share * size)):
        assert command("--output", str(out)) == 1
    printed = capfd.readouterr()
    assert re.search(r"^dqik_bake: cannot write .*out\.blend.*disk full\?$", printed.err, re.MULTILINE)
    assert "baked" not in printed.out
    assert out.read_bytes() == OLD
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_is_cut_is_known(compress: bool, tmp_path: Path) -> None:
    """At any byte: a file is complete with all of its bytes only."""
    blend_file = rigs.part("rig.blender.files.blend_file")
    whole = shot(tmp_path / "shot.blend", compress).read_bytes()
    assert blend_file.is_complete(str(tmp_path / "shot.blend"))
    cuts = {0, 1, 3, 7, 12, 17, 40, len(whole) - 1, len(whole) - 9, len(whole) - 30, *range(99, len(whole), 9999)}
    for cut in cuts:
        (tmp_path / "cut.blend").write_bytes(whole[:cut])
        assert not blend_file.is_complete(str(tmp_path / "cut.blend"))
    for other in (whole + b"more", b"plain text that is long enough for a header"):
        (tmp_path / "cut.blend").write_bytes(other)
        assert not blend_file.is_complete(str(tmp_path / "cut.blend"))


def test_without_a_decompressor_the_end_of_the_file_counts(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    """Linux distributions build a Blender whose Python cannot read what Blender compresses."""
    blend_file = rigs.part("rig.blender.files.blend_file")
    for name in ("zstandard", "compression"):
        monkeypatch.setitem(sys.modules, name, None)
    whole = shot(tmp_path / "shot.blend", compress=True).read_bytes()
    assert blend_file.is_complete(str(tmp_path / "shot.blend"))
    assert command("--output", str(tmp_path / "out.blend")) == 0
    for cut in (40, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.blend").write_bytes(whole[:cut])
        assert not blend_file.is_complete(str(tmp_path / "cut.blend"))


def test_the_open_file_itself_is_not_written(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """A farm that runs the task once more would bake what is baked."""
    source = shot(tmp_path / "shot.blend")
    before = source.read_bytes()
    capfd.readouterr()
    assert command("--output", str(source)) == 2
    assert "the output is the open file" in capfd.readouterr().err
    assert source.read_bytes() == before
    assert os.listdir(tmp_path) == ["shot.blend"]


@pytest.mark.parametrize("versions", [0, 1, 3])
def test_earlier_files_are_kept_as_the_preferences_say(versions: int, tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    """Blender's own saving is the example: the same names hold the same bytes."""
    monkeypatch.setattr(bpy.context.preferences.filepaths, "save_version", versions)
    kept = {}
    shot(tmp_path / "shot.blend")
    for who in ("blender", "dqik"):
        (tmp_path / who).mkdir()
        out = tmp_path / who / "out.blend"
        for suffix in ("", "1", "2", "3"):
            Path(f"{out}{suffix}").write_bytes(OLD + suffix.encode())
        if who == "dqik":
            assert command("--output", str(out)) == 0
        else:
            bpy.ops.wm.save_as_mainfile(filepath=str(out), copy=True)
        kept[who] = {path.name: path.read_bytes() for path in out.parent.iterdir() if path != out}
        assert out.read_bytes()[:7] == b"BLENDER"
    assert kept["dqik"] == kept["blender"]


def test_a_backup_that_cannot_be_made_leaves_all_as_it_was(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """A folder has the backup's name."""
    out = beside_an_old_file(tmp_path)
    blocked = Path(f"{out}1")
    (blocked / "inside").mkdir(parents=True)
    names = sorted(os.listdir(tmp_path))
    capfd.readouterr()
    assert command("--output", str(out)) == 1
    assert re.search(r"^dqik_bake: cannot write .*out\.blend': .*irectory", capfd.readouterr().err, re.MULTILINE)
    assert sorted(os.listdir(tmp_path)) == names
    assert (blocked / "inside").is_dir()
    assert out.read_bytes() == OLD


@pytest.mark.parametrize("name", ["out.blend", "out", "out.v2", "out with spaces ä.blend", "o" * 245 + ".blend"])
def test_names_are_taken_as_they_are(name: str, tmp_path: Path) -> None:
    """The file has the name that was asked for, is as compressed as the open one, and nothing else is left."""
    shot(tmp_path / "shot.blend", compress := "v2" in name)
    assert command("--output", str(tmp_path / name)) == 0
    assert sorted(os.listdir(tmp_path)) == sorted([name, "shot.blend"])
    assert ((tmp_path / name).read_bytes()[:7] == b"BLENDER") != compress
    assert opens(tmp_path / name)


def test_a_symbolic_link_stays_one_and_rights_of_the_file_stay(tmp_path: Path) -> None:
    """The file that it names is written; what the group may write stays so."""
    shot(tmp_path / "shot.blend")
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "there.blend", tmp_path / "link.blend"
    real.write_bytes(OLD)
    real.chmod(0o660)
    link.symlink_to(real)
    assert command("--output", str(link)) == 0
    assert link.is_symlink() and (os.name == "nt" or stat.S_IMODE(real.stat().st_mode) == 0o660)
    assert (tmp_path / "real" / "there.blend1").read_bytes() == OLD
    assert opens(real)


def test_relative_paths_name_the_same_files(tmp_path: Path) -> None:
    """From another folder, an image is found by another relative path."""
    (tmp_path / "textures").mkdir()
    (tmp_path / "farm").mkdir()
    picture = bpy.data.images.new("Picture", 2, 2)
    picture.filepath_raw, picture.file_format = str(tmp_path / "textures" / "picture.png"), "PNG"
    picture.save()
    bpy.data.images.remove(picture)
    shot(tmp_path / "shot.blend")
    picture = bpy.data.images.load(str(tmp_path / "textures" / "picture.png"))
    picture.use_fake_user, picture.filepath = True, "//textures/picture.png"
    out = tmp_path / "farm" / "out.blend"
    assert command("--output", str(out)) == 0
    assert opens(out)
    found = next(iter(bpy.data.images)).filepath
    assert found.startswith("//")
    assert Path(bpy.path.abspath(found)).resolve() == (tmp_path / "textures" / "picture.png").resolve()


def test_a_library_of_the_file_is_not_overwritten(tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """Blender refuses that too."""
    library = shot(tmp_path / "library.blend")
    before = library.read_bytes()
    rigs.new_file()
    shot(tmp_path / "shot.blend")
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.meshes, wanted.objects = [], ["Target"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    capfd.readouterr()
    assert command("--output", str(library)) == 1
    assert "links data from it" in capfd.readouterr().err
    assert library.read_bytes() == before


def read_only_file(folder: Path) -> None:
    (folder / "out.blend").write_bytes(OLD)
    (folder / "out.blend").chmod(0o444)


def read_only_folder(folder: Path) -> None:
    (folder / "out.blend").write_bytes(OLD)
    folder.chmod(0o555)


@pytest.mark.parametrize("protect", [read_only_file, read_only_folder])
def test_what_is_protected_is_refused(protect: Callable[[Path], None], tmp_path: Path) -> None:
    """The check is made as another user, because it never fails for the system's own."""
    if not hasattr(os, "geteuid"):
        return
    module = rigs.part("operators.commands.command_files")
    folder = tmp_path / "folder"
    folder.mkdir()
    protect(folder)
    child = os.fork() if os.geteuid() == 0 else None
    if child is None:
        with pytest.raises(module.Failure):
            module.output(str(folder / "out.blend"))
    elif child == 0:
        code = 9
        try:
            os.seteuid(65534)
            module.output(str(folder / "out.blend"))
        except module.Failure:
            code = 0
        finally:
            os._exit(code)
    else:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    folder.chmod(0o755)
    assert (folder / "out.blend").read_bytes() == OLD
    assert os.listdir(folder) == ["out.blend"]


def removed(*names: str) -> Callable:
    """A handler of another add-on that removes objects; without names, all collections."""
    def remove(*_: object) -> None:
        for own in [bpy.data.objects.get(name) for name in names] or list(bpy.data.collections):
            if own is not None:
                (bpy.data.objects if names else bpy.data.collections).remove(own)

    return remove


def in_the_middle(name: str) -> Callable:
    """A handler that removes an object on frame 2."""
    return lambda scene, *_: removed(name)() if scene.frame_current == 2 else None


MIDDLE = "^dqik_bake: Bake stopped, nothing was changed; '{}' was removed meanwhile$"
REMOVALS = {
    "before saving": ("save_pre", removed("Arm"), "", "armature 'Arm' is not in"),
    "the collection that was made for a hidden target": (
        "frame_change_post", removed(), "Target", "^dqik_bake: nothing was done because of an error: .*Collection"),
    **{f"{name}, {hidden or 'shown'}": ("frame_change_post", in_the_middle(name), hidden, MIDDLE.format(name))
       for name in ("Arm", "Target") for hidden in ("", name)},
}  # fmt: skip


@pytest.mark.parametrize("case", REMOVALS)
def test_what_another_add_on_removes_is_named(case: str, tmp_path: Path, capfd: CaptureFixture[str]) -> None:
    """The exit code is 1, and no file changes."""
    when, remove, hidden, words = REMOVALS[case]
    out = beside_an_old_file(tmp_path)
    if hidden:
        bpy.data.objects[hidden].hide_viewport = True
    capfd.readouterr()
    with installed(when, remove):
        assert command("--output", str(out)) == 1
    printed = capfd.readouterr().err
    assert re.search(words, printed, re.MULTILINE) and "Traceback" not in printed
    assert out.read_bytes() == OLD
    assert sorted(os.listdir(tmp_path)) == ["out.blend", "shot.blend"]


def test_what_nobody_can_read_changes_no_exit_code(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    """The output is closed, or knows no umlauts; the file is written."""
    shot(tmp_path / "shot.blend")
    for encoding in ("ascii", None):
        out = tmp_path / f"ä{encoding}.blend"
        with open(os.devnull, "w", encoding=encoding or "utf-8") as stream:
            if encoding is None:
                stream.close()
            with monkeypatch.context() as patch:
                patch.setattr(sys, "stdout", stream)
                assert command("--output", str(out)) == 0
        assert out.exists()
    assert opens(out)
