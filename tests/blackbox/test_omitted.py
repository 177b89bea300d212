"""Each visible text of a page is in its Markdown or counted as left out, once: scripts/check-omitted over pages in the
markup of many generators, and over answers that are wrong."""

import json
import re
import subprocess
import sys

import pytest
from programs import FORAGE, ROOT, environment
from test_generators import NAMES, Generator

CASES = sorted((ROOT / "tests" / "unit" / "data").glob("*_cases.txt"))
PROSE = "<p>Bread is made of flour, water and time, and of little else. It takes a day, and some patience.</p>"
AROUND = f"<title>The case</title><body><nav><a href=/>Home</a></nav><main>{PROSE}{{}}{PROSE}</main><footer>The end</footer>"


def check(folder, *options, forage=FORAGE):
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "check-omitted", "--forage", forage, *options, folder],
        env=environment({}),
        capture_output=True,
        text=True,
    )


def test_pages_of_every_markup(tmp_path):
    """The cases of the unit tests, each in a page of its own, and whole pages as generators write them."""
    parts = [part for path in CASES for part in re.findall(r"^== .*?\n(.*?)^--\n", path.read_text(), re.M | re.S)]
    assert len(parts) > 250
    for number, part in enumerate(parts):
        (tmp_path / f"case-{number}.html").write_text(AROUND.format(part))
    for name in NAMES:
        (tmp_path / f"{name}.html").write_text(Generator(name).page())
    # What is lost are signs that formulas and footnotes write in another way.
    done = check(tmp_path, "--least", "99.9", "--other", "0.5", "--show", "lost")
    assert done.returncode == 0, done.stdout + done.stderr


# What the extractor tells of a page that shows "One.", "Two." and a long text.
LONG = "A sentence that is long enough to be recognised."
RIGHT = [("markdown", "One."), ("navigation", "Two."), ("footer", LONG), ("hidden", "Three.")]


@pytest.mark.parametrize(
    "account, markdown, words",
    [
        (RIGHT, "One.", "once 100.00 %"),
        # Another parser may cut a text elsewhere.
        ([("markdown", "One."), ("navigation", "Tw"), ("navigation", "o."), ("footer", LONG)], "One.", "once 100.00 %"),
        (RIGHT[1:], "One.", "lost 7.14 %"),
        (RIGHT, "Another text.", "lost 7.14 %"),
        (RIGHT, f"One. {LONG}", "twice 8"),
        ([*RIGHT[:2], ("other", LONG)], "One.", "other 8"),
    ],
)
def test_the_check_notices(tmp_path, account, markdown, words):
    told = {"markdown": markdown, "account": [{"what": what, "text": text} for what, text in account]}
    fake = tmp_path / "forage"
    fake.write_text(f"#!{sys.executable}\nprint({json.dumps(told)!r})\n")
    fake.chmod(0o755)
    (tmp_path / "page.html").write_text(f"<p>One.<p>Two.<div>{LONG}</div><p hidden>Three.</p><script>Four.</script>")
    done = check(tmp_path, forage=fake)
    assert words in done.stdout, done.stdout + done.stderr
    assert (done.returncode == 0) == ("100.00" in words)
