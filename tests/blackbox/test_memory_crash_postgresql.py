"""Nothing acknowledged is lost in PostgreSQL, whether the servers are killed or the database crashes or restarts."""

import contextlib
import signal

from conftest import report
from memory_streams import CLIENTS, KILLS, Load, Stream, check, load_and_kill
from postgres import Postgres
from programs import Server, wait_until

SERVERS = 2


def nobody_is_served(database):
    """Whether the database has finished what the killed servers asked for last, which it does without them."""
    return database.execute("SELECT FROM pg_stat_activity WHERE application_name = 'forage'") == []


def test_what_was_acknowledged_survives_in_postgresql(tmp_path):
    with Postgres(careful=True) as database:
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": database.database()}
        streams = [Stream(number) for number in range(CLIENTS)]
        for number in range(KILLS):
            load_and_kill(streams, SERVERS, settings)
            if number % 4 == 3:
                database.restart(signal.SIGQUIT)
            wait_until(lambda: nobody_is_served(database))
            check(streams, settings)
    acknowledged = sum(stream.acknowledged for stream in streams)
    report(f"memory, postgresql: {KILLS} kills, {acknowledged} acknowledged changes, none lost")


def test_postgresql_restarts_under_load(tmp_path):
    """Calls fail clearly or succeed; none lies, and all is well when the database is back."""
    with Postgres(careful=True) as database, contextlib.ExitStack() as started:
        settings = {"FORAGE_DATA_DIR": tmp_path, "FORAGE_DATABASE_URL": database.database()}
        servers = [started.enter_context(Server(**settings)) for _ in range(SERVERS)]
        streams = [Stream(number) for number in range(CLIENTS)]
        refused = 0
        for how in [signal.SIGINT, signal.SIGQUIT, signal.SIGINT]:
            load = Load(streams, [server.port for server in servers])
            load.wait(30)
            database.restart(how)
            load.wait(60)
            load.end()
            refused += sum(len(stream.refusals) for stream in streams)
            check(streams, settings)
        report(f"memory, postgresql: 3 restarts under load, {refused} calls failed clearly, none lied")
