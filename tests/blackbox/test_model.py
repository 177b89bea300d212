"""The file of the model that finds memories by what they mean: made the same each time, found, refused when it is not whole."""

import hashlib
import json
import re
import subprocess
import sys

import pytest
from http_client import exchange, request
from programs import ROOT, Server, run

TINY = ROOT / "tests" / "unit" / "data" / "tiny.model"
NAME = "e5-small-v2-int8.model"
REAL = ROOT / ".deps" / "model" / NAME
ABOUT = (ROOT / "packaging" / "model" / "about").read_text(encoding="utf-8")


def finding(tmp_path, **settings):
    completed = run("doctor", "--json", HOME=tmp_path, **settings)
    groups = json.loads(completed.stdout)["groups"]
    return next(check for group in groups for check in group["checks"] if check["id"] == "kept.model")


def test_the_tests_model_is_what_the_script_makes(tmp_path):
    made = tmp_path / "made"
    subprocess.run([sys.executable, ROOT / "scripts" / "model-file", "--tiny", made], check=True)
    assert made.read_bytes() == TINY.read_bytes()
    assert made.read_bytes() == (ROOT / "fuzz" / "corpus" / "model" / "tiny").read_bytes()


def test_another_package_is_refused(tmp_path):
    (tmp_path / "package.jar").write_bytes(b"something else")
    made = subprocess.run([sys.executable, ROOT / "scripts" / "model-file", tmp_path / "package.jar", tmp_path / "made"],
                          capture_output=True, text=True, check=False)
    assert made.returncode == 1 and "is not dev.langchain4j:" in made.stderr
    assert not (tmp_path / "made").exists()


def test_it_is_found(tmp_path):
    """By its variable, and in the data folder."""
    assert finding(tmp_path)["state"] == "missing"
    named = finding(tmp_path, FORAGE_EMBEDDINGS_FILE=TINY)
    assert named["state"] == "ok" and named["text"].startswith(f"tiny ({TINY}), computed with ")
    models = tmp_path / "data" / "models"
    models.mkdir(parents=True)
    (models / NAME).write_bytes(TINY.read_bytes())
    there = finding(tmp_path, FORAGE_DATA_DIR=tmp_path / "data")
    assert there["state"] == "ok" and str(models / NAME) in there["text"]


def test_the_status_tells(tmp_path):
    """What finds memories, without opening anything; and where words rank alone, what brings a model."""

    def status(**settings):
        return json.loads(run("call", "forage_status", HOME=tmp_path, **settings).stdout)["meaning"]

    alone = status()
    assert alone == {"ranked_by": "words", "command": "make model"}
    found = status(FORAGE_EMBEDDINGS_FILE=TINY)
    assert found.pop("kernels") in finding(tmp_path, FORAGE_EMBEDDINGS_FILE=TINY)["text"]
    assert found == {"ranked_by": "words and meaning", "source": "model", "model": "tiny"}
    asked = status(FORAGE_EMBEDDINGS_FILE=TINY, FORAGE_EMBEDDINGS_URL="http://127.0.0.1:1/v1", FORAGE_EMBEDDINGS_MODEL="large")
    assert asked == {"ranked_by": "words and meaning", "source": "endpoint", "model": "large"}
    (tmp_path / "short").write_bytes(TINY.read_bytes()[:100])
    for file in (tmp_path / "short", tmp_path / "none"):
        assert status(FORAGE_EMBEDDINGS_FILE=file) == {"ranked_by": "words", "source": "model", "command": "forage doctor"}
    with Server(FORAGE_EMBEDDINGS_FILE=TINY) as server:
        answer = exchange(server.port, request("GET", "/health?full"))
        assert json.loads(answer.body)["meaning"]["model"] == "tiny"


def test_a_model_that_is_not_whole(tmp_path):
    content = TINY.read_bytes()
    middle = len(content) // 2
    damaged = {
        "it is not whole": content[:middle],
        "it is damaged": content[:middle] + b"\x01\x02\x03" + content[middle + 3 :],
        "it is of another version": content[:32] + b"\x09" + content[33:],
        "it is no model": b"PK" + content[2:],
        "No such file or directory": None,
    }
    for words, changed in damaged.items():
        file = tmp_path / "changed.model"
        file.unlink(missing_ok=True)
        if changed is not None:
            file.write_bytes(changed)
        found = finding(tmp_path, FORAGE_EMBEDDINGS_FILE=file)
        assert found["state"] == "broken" and found["text"] == f"{file}: {words}", found
        assert found["mend"]


@pytest.mark.skipif(not REAL.exists(), reason="there is no model: scripts/setup test brings it where maven can")
def test_the_real_one(tmp_path):
    """What setup made of the registry's package is what is released, and works on this machine."""
    assert hashlib.sha256(REAL.read_bytes()).hexdigest() == re.search(r"^file_sha256: (\w+)$", ABOUT, re.M)[1]
    found = finding(tmp_path, FORAGE_EMBEDDINGS_FILE=REAL)
    assert found["state"] == "ok" and found["text"].startswith("e5-small-v2-int8 ("), found
