#!/usr/bin/env python3
"""Makes the pictures of docs/dashboard.md, of the world that the tests call typical.

    tests/dashboard/pictures.py

They go into docs/images/, with 64 colours, so that they stay small.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "blackbox")]

from devtools import Browser  # noqa: E402
from filling import filled_server  # noqa: E402
from pages import Page  # noqa: E402
from programs import ROOT  # noqa: E402
from test_views import address_of  # noqa: E402

# The view, by day or by night, and how much of it.
PICTURES = {"overview-month": ("light", 1000), "search": ("light", 860), "experiment": ("dark", 860), "setup": ("light", 680), "memory": ("light", 860), "report": ("dark", 860)}
WIDTH = 1280
COLOURS = 64

SHRINK = """
import sys
from PIL import Image
for path in sys.argv[2:]:
    Image.open(path).convert("RGB").quantize(int(sys.argv[1]), Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)
"""


def main():
    made = []
    with tempfile.TemporaryDirectory() as folder, filled_server("typical", pathlib.Path(folder)) as server, tempfile.TemporaryDirectory() as own, Browser(own) as browser:
        for name, (scheme, height) in PICTURES.items():
            browser.look(WIDTH, scheme)
            browser.ask("Emulation.setDeviceMetricsOverride", width=WIDTH, height=height, deviceScaleFactor=1, mobile=False)
            Page(browser, server.port).open(address_of(name, server))
            made.append(ROOT / "docs" / "images" / f"dashboard-{name}.png")
            browser.picture(made[-1], whole=False)
    subprocess.run([ROOT / ".deps" / "documents-venv" / "bin" / "python", "-c", SHRINK, str(COLOURS), *made], check=True)
    for path in made:
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
