"""What the tests of the packages share: a tree as `make install` makes it of the program under test, and its packages.

The trees of a release are made by packaging/tree, which takes minutes; scripts/check-packages tests those.
"""

import pathlib

import pytest
from npm_registry import Registry
from packing import ROOT, Npm, copy_sources, execute, pack_all
from programs import FORAGE


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    stage = tmp_path_factory.mktemp("stage")
    build = pathlib.Path(FORAGE).parent
    execute(["meson", "install", "-C", build, "--no-rebuild", "--strip", "--quiet", "--destdir", stage])
    return next(stage.rglob("bin/forage")).parent.parent


@pytest.fixture(scope="session")
def packed(tree, tmp_path_factory):
    """The folder of the packages."""
    return pack_all(ROOT, tree, tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="session")
def newer(tree, tmp_path_factory):
    """The same packages as another version."""
    sources = copy_sources(tmp_path_factory.mktemp("newer-sources"), "99.0.0")
    return pack_all(sources, tree, tmp_path_factory.mktemp("newer"))


@pytest.fixture(scope="session")
def registry(packed):
    with Registry(packed) as running:
        yield running


@pytest.fixture
def npm(tmp_path, registry):
    return Npm(tmp_path / "home", registry)


@pytest.fixture(scope="session")
def launcher(tmp_path_factory, registry):
    """An installation without install scripts, for the tests that do not change it."""
    made = Npm(tmp_path_factory.mktemp("launcher") / "home", registry)
    made.run("install", "-g", "--ignore-scripts", "forage-mcp")
    return made
