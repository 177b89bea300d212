"""`forage dashboard`: where the page is, and what to do where there is none."""

import os
import stat

import pytest
from programs import Server, run, wait_until


def dashboard(*words, **settings):
    return run("dashboard", *words, DISPLAY=None, WAYLAND_DISPLAY=None, **settings)


@pytest.fixture
def browser(tmp_path):
    """A program that notes what it is told to open."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/new && mv {tmp_path}/new {tmp_path}/opened\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def test_it_prints_the_address(server):
    completed = dashboard("--port", server.port)
    assert completed.returncode == 0 and completed.stdout == f"http://127.0.0.1:{server.port}/\n" and completed.stderr == ""
    assert dashboard(MCP_SERVER_PORT=server.port).stdout == completed.stdout
    assert dashboard("--port", server.port, "--host", "0.0.0.0").stdout == completed.stdout


def test_it_opens_a_browser_where_there_is_a_display(server, browser, tmp_path):
    completed = run("dashboard", "--port", server.port, **browser, DISPLAY=":0")
    assert completed.returncode == 0 and completed.stdout == f"http://127.0.0.1:{server.port}/\n"
    assert wait_until(lambda: (tmp_path / "opened").exists() and (tmp_path / "opened").read_text()) == completed.stdout
    (tmp_path / "opened").unlink()
    assert run("dashboard", "--print", "--port", server.port, **browser, DISPLAY=":0").stdout == completed.stdout
    assert run("dashboard", "--port", server.port, **browser, DISPLAY="", WAYLAND_DISPLAY=None).stdout == completed.stdout
    assert not (tmp_path / "opened").exists()


def test_without_a_program_that_opens_it(server, tmp_path):
    completed = run("dashboard", "--port", server.port, PATH=tmp_path, WAYLAND_DISPLAY="wayland-0")
    assert completed.returncode == 0 and "open the address yourself" in completed.stderr and completed.stdout


def test_without_a_server():
    completed = dashboard("--port", 1)
    assert completed.returncode == 1 and completed.stdout == ""
    assert "no server answers at http://127.0.0.1:1" in completed.stderr and "forage serve" in completed.stderr
    assert "--port" in dashboard("--port", 0).stderr


def test_where_it_is_switched_off():
    with Server(FORAGE_DASHBOARD="off") as server:
        completed = dashboard("--port", server.port)
    assert completed.returncode == 1 and "FORAGE_DASHBOARD is off" in completed.stderr
