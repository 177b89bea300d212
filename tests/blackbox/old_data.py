"""Data that an older version made (tests/fixtures/VERSION): put in place, and asked for all that is in it.

tests/fixtures/make.py writes down with these functions what the older program said; test_old_data.py compares that with
what the program under test says.
"""

import datetime
import hashlib
import json
import os
import shutil
import sqlite3

from programs import FORAGE, run

PAGE_PORT = 18473  # where the cached page came from; nobody listens there any more
PAGE = f"http://127.0.0.1:{PAGE_PORT}/bread"
# What a cached page is found by, besides its address.
PAGE_SETTINGS = {
    "FORAGE_ALLOW_PRIVATE_HOSTS": f"127.0.0.1:{PAGE_PORT}",
    "FORAGE_USER_AGENT": "forage, whatever its version",
    "FORAGE_CACHE_TTL": "24h",
}
NAMESPACES = ["default", "work"]
RECORDS = "records.sqlite"
STORES = ["memory.db", RECORDS]

# The files of clients before `forage setup`; None: there was none.
SETUP = {
    ".cursor/mcp.json": '{\n  // mine\n  "mcpServers": {\n    "other": {"command": "other"}\n  }\n}\n',
    ".claude.json": None,
}


def rest_url(tool):
    return f"/api/v1/tools/{tool}"


def setup(home, client, *arguments):
    """`forage setup` for a user with this home."""
    settings = {"HOME": home, "FORAGE_DATA_DIR": home / "data", "XDG_CONFIG_HOME": None, "XDG_DATA_HOME": None}
    words = ["-C", home, FORAGE, "setup", client, "--command", "forage", "--keys", "OPENAI_API_KEY", *arguments]
    return run(*words, program="/usr/bin/env", **settings)


def record_name(path, name="forage"):
    """What the undo record of a file is called: the file's name and a digest of where it is."""
    digest = hashlib.sha256(str(path).encode() + b"\0" + name.encode()).hexdigest()
    return f"{os.path.basename(path)}-{digest[:16]}"


def place_home(fixture, home):
    """Copies a home with what `forage setup` did in it. Records are named after where files are, which is another place
    now."""
    shutil.copytree(fixture / "home", home)
    records = home / "data" / "setup"
    for name in SETUP:
        ours = record_name(home / name)
        for path in records.glob(os.path.basename(name) + "-*"):
            path.rename(records / (ours + path.suffix))


def today():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def place_sqlite(fixture, folder):
    """Copies the SQLite files. Usage is stored for 400 days only, so it is made to be of today."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in STORES:
        shutil.copy(fixture / name, folder / name)
    records = sqlite3.connect(folder / RECORDS)
    records.execute("UPDATE usage SET day = ?", [today()])
    records.commit()
    records.close()


def place_postgresql(fixture, server):
    """The URL of a database that holds what was dumped."""
    url = server.database()
    server.query(url, (fixture / "postgresql.sql").read_text())
    server.query(url, f"UPDATE forage_usage SET day = '{today()}'")
    return url


def place_cache(fixture, folder):
    """Copies the page cache. How old an entry is stands in the time of its file, which git does not store."""
    shutil.copytree(fixture / "cache", folder)
    for path in folder.iterdir():
        os.utime(path)


def tell(*arguments, **settings):
    done = run(*arguments, **settings)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def as_it_was(call):
    """A call of the history without what later versions say of it too."""
    return {name: value for name, value in call.items() if name not in ("caller", "has_result")}


def told_of_store(settings):
    """What the program says of its memories and records."""
    usage = json.loads(tell("usage", "--json", **settings))
    return {
        "memories": {
            # 0.8.0 did not write the namespace into each line.
            name: [
                {member: value for member, value in json.loads(line).items() if (member, value) != ("namespace", name)}
                for line in tell("memory", "export", "--namespace", name, **settings).splitlines()
            ]
            for name in NAMESPACES
        },
        "found": [
            hit["key"]
            for hit in json.loads(tell("memory", "search", "loaf", "baked", "Sunday", "--json", **settings))["data"]["results"]
        ],
        "usage": {"rows": [{**row, "day": "today"} for row in usage["rows"]], "total": usage["total"]},
        "history": [as_it_was(json.loads(line)) for line in tell("history", "export", **settings).splitlines()],
    }


def told_of_page(folder):
    """The cached page, read while its server is gone."""
    return tell("read", PAGE, FORAGE_CACHE_DIR=folder / "cache", FORAGE_DATA_DIR=folder / "data", **PAGE_SETTINGS)
