"""A browser that pages are looked at with: Chromium's headless shell, spoken to through a pipe."""

import base64
import collections
import json
import os
import shutil
import subprocess
import time

PATIENCE = 60.0
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    """One browser with one page; a context manager. It reaches nothing but files and servers on loopback."""

    def __init__(self, folder, *switches):
        down, up = os.pipe(), os.pipe()
        # The protocol wants descriptors 3 and 4; a shell puts them there.
        command = (
            f'exec "$0" --headless --no-sandbox --disable-gpu --no-first-run --disable-extensions --hide-scrollbars '
            f'--remote-debugging-pipe --user-data-dir="$1" --proxy-server=127.0.0.1:1 "${{@:2}}" about:blank '
            f"3<&{down[0]} 4>&{up[1]} >/dev/null 2>&1"
        )
        self.process = subprocess.Popen(
            ["bash", "-c", command, BROWSER, folder, *switches], pass_fds=(down[0], up[1]), stdin=subprocess.DEVNULL
        )
        os.close(down[0])
        os.close(up[1])
        self.to, self.back = down[1], up[0]
        self.rest, self.last = b"", 0
        self.events = collections.deque()
        self.session = None

    def __enter__(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.back)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _receive(self):
        while b"\0" not in self.rest:
            data = os.read(self.back, 1 << 16)
            assert data, "the browser ended"
            self.rest += data
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def open(self, address):
        """Opens a page and waits until it is loaded; what happened on the way."""
        self.events.clear()
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=address)
        self.wait(f"location.href + document.readyState === {json.dumps(address + 'complete')}")
        # What deferred scripts and pictures had to say comes before the answer to one more question.
        self.wait("new Promise((done) => requestAnimationFrame(() => done(true)))")
        return list(self.events)

    def run(self, expression):
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until an expression is true in the page."""
        end = time.monotonic() + PATIENCE
        while not (value := self.run(expression)):
            assert time.monotonic() < end, f"waited in vain for {expression}"
            time.sleep(0.01)
        return value

    def press(self, *keys):
        for key in keys:
            text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
            for kind in ("keyDown", "keyUp"):
                code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS.get(key, 0)}
                self.ask("Input.dispatchKeyEvent", type=kind, **code, **(text if kind == "keyDown" else {}))

    def type(self, text):
        """Into whatever has the focus."""
        self.ask("Input.insertText", text=text)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none", clickCount=1)

    def picture(self, path, whole=True):
        """Writes what is to be seen, or the whole page, as a PNG."""
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **(self._extent() if whole else {}))["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _extent(self):
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}}

    def look(self, width, scheme):
        """The size of the screen, and the time of the day."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
