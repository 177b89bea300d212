"""Two packs of the same program give the same bytes, wherever and whenever they are made."""

import os

from packing import ROOT, copy_sources, pack_all


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_bytes_in_another_folder(packed, tree, tmp_path):
    (tmp_path / "sources").mkdir()
    sources = copy_sources(tmp_path / "sources")
    for folder in [sources, *sources.rglob("*")]:
        os.utime(folder, (1234567890, 1234567890))
    again = pack_all(sources, tree, tmp_path / "again")
    assert sorted(contents(again)) == sorted(contents(packed))
    for name, content in contents(packed).items():
        assert contents(again)[name] == content, name
    assert str(ROOT).encode() not in b"".join(contents(packed).values())
