"""What the tests of experiments share: files of experiments, which arm a unit must have, and trials in the database."""

import hashlib
import hmac
import json
import pathlib
import sqlite3

from programs import run

COLUMNS = (
    "experiment version arm unit tool at_ms took_us nano_usd failed claims verified nothing_found pages reformulates".split()
)
# A call that tells nothing but that it did not fail.
PLAIN = {"took_us": 1000, "nano_usd": 0, "failed": 0, "claims": -1, "verified": -1, "nothing_found": -1, "pages": -1, "reformulates": -1}


def experiment(name="try", tool="web_search", **more):
    """A file's content, with what every experiment needs."""
    usual = {
        "name": name,
        "tool": tool,
        "unit": "session",
        "share": 1,
        "metric": "latency",
        "sample": 10,
        "arms": {"A": {}, "B": {"arguments": {"num_results": 5}}},
    }
    return {key: value for key, value in {**usual, **more}.items() if value is not None}


def write(folder, *experiments):
    """Puts files of experiments into a folder; the folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    for one in experiments:
        (folder / f"{one['name']}.json").write_text(json.dumps(one))
    return folder


def arm_of(content, unit):
    """Which arm a unit must have, by what docs/experiments.md says; None: it does not take part."""
    digest = hmac.digest(content.get("salt", content["name"]).encode(), unit.encode(), hashlib.sha256)
    if (int.from_bytes(digest[:8]) >> 11) / 2**53 >= content["share"]:
        return None
    names = list(content["arms"])
    return names[(int.from_bytes(digest[8:12]) * len(names)) >> 32]


def arm_of_session(content, session, caller="local"):
    return arm_of(content, f"{caller}\n{session}")


def trials(folder):
    """What was recorded, in its order."""
    with sqlite3.connect(pathlib.Path(folder) / "records.sqlite") as db:
        rows = db.execute(f"SELECT {', '.join(COLUMNS)} FROM trials ORDER BY id").fetchall()
    db.close()
    return [dict(zip(COLUMNS, row)) for row in rows]


def add_trials(folder, rows):
    """Records trials as a server would have."""
    with sqlite3.connect(pathlib.Path(folder) / "records.sqlite") as db:
        marks = ", ".join("?" * len(COLUMNS))
        db.executemany(
            f"INSERT INTO trials ({', '.join(COLUMNS)}) VALUES ({marks})", [[row[name] for name in COLUMNS] for row in rows]
        )
    db.close()


def results(folder, data):
    """What the command says of the experiments of a folder, by their names."""
    done = run("experiment", "list", "--json", FORAGE_EXPERIMENTS=folder, FORAGE_DATA_DIR=data)
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)["experiments"]}
