"""Headless Chromium over a pipe, in the words of its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess

# Debian has the first, GitHub's machines the last.
NAMES = ["chromium-headless-shell", "chromium", "google-chrome"]
# No host has an address: what a page asks for is seen, and never leaves the machine.
FLAGS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"]


class Browser:
    """A browser with one tab; `events` has what it has told."""

    def __init__(self, profile):
        program = next(filter(None, map(shutil.which, NAMES)))
        (theirs, ours), (here, there) = os.pipe(), os.pipe()
        # The protocol takes the browser's descriptors 3 and 4.
        script = f'exec "$0" "$@" 3<&{theirs} 4>&{there}'
        command = ["bash", "-c", script, program, *FLAGS, f"--user-data-dir={profile}"]
        self.process = subprocess.Popen(command, pass_fds=(theirs, there), stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(there)
        self.to, self.out = os.fdopen(ours, "wb", buffering=0), os.fdopen(here, "rb")
        self.left, self.number, self.events, self.tab = b"", 0, [], {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.tab = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def close(self):
        self.call("Browser.close")
        self.process.wait()

    def message(self):
        while b"\0" not in self.left:
            more = self.out.read1()
            assert more, "the browser has ended"
            self.left += more
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        call = {"id": self.number, "method": method, "params": params, **self.tab}
        self.to.write(json.dumps(call).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def run(self, script):
        """What an expression comes to, in the page."""
        came = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in came, came
        return came["result"].get("value")

    def look(self, width, scheme="light"):
        """How wide the window is, and what the reader prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key, code):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, height):
        """A PNG of the page from its top, so high."""
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        png = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True, optimizeForSpeed=True)
        return base64.b64decode(png["data"])
