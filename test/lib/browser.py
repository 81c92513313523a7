"""A page in headless Chromium, driven by its debugging protocol (https://chromedevtools.github.io/devtools-protocol/)."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

from tornado import ioloop, websocket  # MkDocs depends on it

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--remote-debugging-port=0",
         "--remote-allow-origins=*", "about:blank")


class Browser:
    """with Browser() as page: page.size(width, height); page.open(url); page.value("JavaScript, or a promise of it")"""

    def __init__(self):
        self.home, self.loop, self.count = tempfile.mkdtemp(), ioloop.IOLoop(make_current=False), 0
        with open(os.path.join(self.home, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([shutil.which("chromium"), *FLAGS[:-1], f"--user-data-dir={self.home}", FLAGS[-1]],
                                            stderr=log)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port()}/json/list", timeout=30) as f:
                target = next(t for t in json.load(f) if t["type"] == "page")
            self.socket = self.loop.run_sync(lambda: websocket.websocket_connect(target["webSocketDebuggerUrl"]))
        except BaseException:
            self.end()
            raise

    def port(self):
        """Where it listens, which it says at most half a minute later."""
        for _ in range(300):
            with open(os.path.join(self.home, "log"), encoding="utf-8", errors="replace") as log:
                found = re.search(r"ws://127\.0\.0\.1:(\d+)/", log.read())
            if found:
                return found[1]
            time.sleep(0.1)
        raise TimeoutError("Chromium does not listen")

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.end()

    def call(self, method, **parameters):
        self.count += 1
        self.socket.write_message(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            said = json.loads(self.loop.run_sync(self.socket.read_message, timeout=60))
            if said.get("id") == self.count:
                return said["result"]

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.value("new Promise(done => document.readyState == 'complete' ? done() : addEventListener('load', done))")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " + json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait(self, expression):
        """The expression's value once it is no longer empty, at most half a minute later."""
        return self.value("new Promise((done, failed) => { let n = 0; const look = () => { const found = " + expression
                          + "; if (found && found.length !== 0) done(found); else if (++n < 300) setTimeout(look, 100); else failed('nothing found') }; look() })")
