"""Memory is what a slow and obvious model says (memory_model.py), whatever is changed, whoever is asked and whoever is killed. What
was acknowledged is there, and a word that was deleted is in no file of the data folder. FORAGE_TEST_SEED=N repeats a run, less the
moments at which a kill falls.
"""

import functools
import os
import random

import pytest
from conftest import report
from memory_model import Run, Store, left_in
from memory_world import SEED, SOAK, check_store, postgres  # noqa: F401 (a fixture)
from programs import run as forage
from programs import wait_until

STEPS = 10_000 if SOAK else 300
SERVERS = {"sqlite": 1, "sqlite-four": 4, "postgresql": 3}


def until_nobody_is_served(database, url):
    """Waits until the database has finished what killed servers asked for last, which it does without them."""
    asked = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'forage'"
    wait_until(lambda: database.query(url, asked) == [])


@pytest.mark.parametrize("kept", [0, 5])
@pytest.mark.parametrize("kind", list(SERVERS))
def test_memory_is_what_the_model_says(request, tmp_path, kind, kept):
    seed = SEED if "FORAGE_TEST_SEED" in os.environ or not SOAK else random.randrange(10**6)
    dice = random.Random(seed)
    settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_MEMORY_VERSIONS": kept}
    after_kill = None
    if kind == "postgresql":
        database = request.getfixturevalue("postgres")
        settings["FORAGE_DATABASE_URL"] = url = database.database()
        after_kill = functools.partial(until_nobody_is_served, database, url)
    store = Store(SERVERS[kind], settings, dice, after_kill)
    run = Run(store, dice, kept > 0)
    try:
        while run.steps < STEPS:
            run.step()
        run.check_all()
        run.check_disk()
    except BaseException as error:
        error.add_note(f"step {run.steps} of FORAGE_TEST_SEED={seed}, {kind}, {kept} versions, {store.kills} kills")
        raise
    finally:
        store.close()
    assert forage("memory", "add", "the first change of a process", **settings).returncode == 0
    assert not left_in(tmp_path, run.model.gone)
    check_store(settings)
    report(
        f"memory, {kind}, {kept} versions, seed {seed}: {run.steps} steps, {store.kills} kills, {len(run.model.memories)} memories "
        f"as the model says, {len(run.model.gone)} deleted words nowhere"
    )
