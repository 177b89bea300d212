"""The index's files, damaged in every way: it is noticed and made anew, no result is wrong, and nobody crashes. The store is the
truth, so the model (memory_model.py) knows every answer whatever happened to the index. FORAGE_TEST_SEED=N repeats a run.
"""

import contextlib
import os
import pwd
import random
import shutil
import stat
import subprocess

import pytest
from conftest import report
from memory_model import Run, Store
from memory_world import SEED, SOAK, check_store
from programs import wait_until
from test_memory_crash import full_disk

FOLDER = "index"  # of the data folder
ROUNDS = 20 if SOAK else 2  # of each kind of damage
QUESTIONS = 15
MEMORIES = 300


# ---- kinds of damage: each is given the dice, a file of the index, and all of them ----


def cut(dice, path, _):
    os.truncate(path, dice.randrange(path.stat().st_size))


def emptied(_, path, __):
    os.truncate(path, 0)


def flipped(dice, path, _):
    """Some bits are others."""
    data = bytearray(path.read_bytes())
    for _ in range(dice.choice([1, 1, 8, 100])):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


def blanked(dice, path, _):
    """A part of it was never written."""
    data = bytearray(path.read_bytes())
    start = dice.randrange(len(data))
    data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    path.write_bytes(data)


def longer(dice, path, _):
    with open(path, "ab") as file:
        file.write(dice.randbytes(dice.choice([1, 4096])))


def nonsense(dice, path, _):
    path.write_bytes(dice.randbytes(path.stat().st_size))


def of_another_version(_, path, __):
    """Every number in its first words is one more, the version's among them."""
    data = bytearray(path.read_bytes())
    for at in range(0, min(32, len(data)), 4):
        data[at] = (data[at] + 1) % 256
    path.write_bytes(data)


def lost(_, path, __):
    path.unlink()


def all_lost(_, __, paths):
    for path in paths:
        path.unlink(missing_ok=True)


def swapped(dice, path, paths):
    other = dice.choice(paths)
    data = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(data)


def of_somebody_else(_, path, __):
    """Another user's, or one that every user may write."""
    if os.geteuid() == 0:
        os.chown(path, pwd.getpwnam("nobody").pw_uid, -1)
    path.chmod(0o666)


def closed(_, path, __):
    path.chmod(0)


def linked(_, path, __):
    """A link to a copy elsewhere, outside of the folder that is searched for deleted words."""
    elsewhere = path.parents[4] / path.name
    shutil.copy(path, elsewhere)
    path.unlink()
    path.symlink_to(elsewhere)


def a_folder(_, path, __):
    path.unlink()
    path.mkdir()


def a_pipe(_, path, __):
    path.unlink()
    os.mkfifo(path)


AT_REST = [
    cut,
    emptied,
    flipped,
    blanked,
    longer,
    nonsense,
    of_another_version,
    lost,
    all_lost,
    swapped,
    of_somebody_else,
    closed,
    linked,
    a_folder,
    a_pipe,
]
# What a process may meet in files that it has mapped. Bits that change after they were checked are the machine's fault.
WHILE_IT_RUNS = [cut, emptied, longer, lost, all_lost, a_folder]


# ---- what is damaged ----


def files_of_the_index(folder):
    """Those with something in them, which a lock has not."""
    paths = sorted(path for path in (folder / FOLDER).rglob("*") if stat.S_ISREG(path.lstat().st_mode))
    return [path for path in paths if path.stat().st_size > 0]


def segments(folder):
    return list((folder / FOLDER).rglob("*.seg"))


def hurt(run, damage, folder):
    """Damages a file of the index. Where a process runs, it may just put another in its place."""

    def done():
        with contextlib.suppress(FileNotFoundError, IndexError):  # it was just replaced
            paths = files_of_the_index(folder)
            damage(run.dice, run.dice.choice(paths), paths)
            return True
        return False

    wait_until(done)


def questions(run):
    for _ in range(QUESTIONS):
        run.dice.choice([run.check_fulltext, run.check_search, run.check_gone])()


def until_it_is_on_disk(run, folder):
    """Searches and adds until the index is in files."""

    def there():
        run.check_search()
        return segments(folder) or run.add_several()

    wait_until(there)


@contextlib.contextmanager
def a_run(folder, memories=MEMORIES):
    dice = random.Random(SEED)
    store = Store(1, {"FORAGE_DATA_DIR": folder}, dice)
    run = Run(store, dice, keeps_versions=True)
    try:
        while len(run.model.memories) < memories:
            run.add_several()
        yield run
    finally:
        store.close()


def well(run):
    for server in run.store.servers:
        assert server.alive(), server.log.text()


@pytest.mark.parametrize("damage", AT_REST)
def test_damage_at_rest(tmp_path, damage):
    with a_run(tmp_path) as run:
        for _ in range(ROUNDS):
            until_it_is_on_disk(run, tmp_path)
            run.store.restart(lambda: hurt(run, damage, tmp_path))
            questions(run)
            run.change()
            questions(run)
            well(run)
        run.check_all()
        run.check_disk()
    check_store({"FORAGE_DATA_DIR": tmp_path})


@pytest.mark.parametrize("damage", WHILE_IT_RUNS)
def test_damage_while_it_runs(tmp_path, damage):
    with a_run(tmp_path) as run:
        for _ in range(ROUNDS):
            until_it_is_on_disk(run, tmp_path)
            run.store.restart()
            questions(run)  # so that they are mapped
            hurt(run, damage, tmp_path)
            questions(run)
            run.change()
            questions(run)
            well(run)
    check_store({"FORAGE_DATA_DIR": tmp_path})


def test_the_files_of_another_store(tmp_path):
    """A copy of somebody's index beside one's own memories finds nothing that is not one's own."""
    with a_run(tmp_path / "theirs") as theirs:
        until_it_is_on_disk(theirs, tmp_path / "theirs")
    with a_run(tmp_path / "ours") as run:
        until_it_is_on_disk(run, tmp_path / "ours")

        def exchange():
            shutil.rmtree(tmp_path / "ours" / FOLDER)
            shutil.copytree(tmp_path / "theirs" / FOLDER, tmp_path / "ours" / FOLDER)

        run.store.restart(exchange)
        questions(run)
        well(run)
    check_store({"FORAGE_DATA_DIR": tmp_path / "ours"})


def test_an_earlier_copy_of_the_files(tmp_path):
    """Whoever restores the folder of the index without the store, or the other way round, finds what the store has."""
    with a_run(tmp_path) as run:
        until_it_is_on_disk(run, tmp_path)
        run.store.restart(lambda: shutil.copytree(tmp_path / FOLDER, tmp_path / "copy"))
        for _ in range(60):
            run.change()
        until_it_is_on_disk(run, tmp_path)

        def go_back():
            shutil.rmtree(tmp_path / FOLDER)
            (tmp_path / "copy").rename(tmp_path / FOLDER)

        run.store.restart(go_back)
        questions(run)
        run.check_disk()
        well(run)


def test_a_disk_that_fills_up(tmp_path):
    """Results are right all the same, and it goes on with room again."""
    with a_run(tmp_path) as run:
        until_it_is_on_disk(run, tmp_path)
        run.store.restart()
        run.store.restart(launcher=full_disk((tmp_path / "memory.db").stat().st_size + 65536))
        refused = 0
        while refused < 20:
            refused += not run.add_several_if_there_is_room()
            refused += not run.change_if_there_is_room()
            if run.dice.random() < 0.2:
                questions(run)
        make_room(run)
        for _ in range(20):
            run.change()
        questions(run)
        run.check_all()
        well(run)
    report(f"memory, a full disk: {refused} changes refused, every result right")
    check_store({"FORAGE_DATA_DIR": tmp_path})


def make_room(run):
    (server,) = run.store.servers
    subprocess.run(["prlimit", "--fsize=unlimited:unlimited", "--pid", str(server.pid)], check=True)


def test_no_room_for_the_index(tmp_path):
    """The store can be read, but there is no room for the index's files, when they are first written and when they are merged."""
    size = 40_000  # enough for what SQLite needs to read
    with a_run(tmp_path, memories=1000) as run:
        run.store.restart(lambda: shutil.rmtree(tmp_path / FOLDER, ignore_errors=True), launcher=full_disk(size))
        questions(run)
        (server,) = run.store.servers
        server.wait_log("cannot be kept in files")
        questions(run)
        assert not segments(tmp_path)
        make_room(run)
        until_it_is_on_disk(run, tmp_path)
        run.store.restart()
        for _ in range(40):
            run.change()
        run.store.restart(launcher=full_disk(size))
        questions(run)
        well(run)
        run.store.restart()
        run.check_all()
        run.check_disk()
    check_store({"FORAGE_DATA_DIR": tmp_path})
