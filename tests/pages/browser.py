"""A browser for tests: Chromium without a window, told what to do over its own protocol, which goes through two pipes.

So Chromium alone is needed, no driver beside it: where the one is installed and the other is not, nothing is skipped.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)

ARGUMENTS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-features=IsolateSandboxedIframes",  # frames are then in the page's own process, and can be asked
)

KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32, "Escape": 27, "Tab": 9, "Enter": 13}
TYPED = {" ": " ", "Enter": "\r"}

SECONDS = 120

DRAWN = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""What waits for a frame: a page is loaded before it has been laid out, and before its observers of sizes are told."""


class Browser:
    """One page of a browser, on whose pipes messages are JSON with a zero byte after each."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self.asked, self.rest = 0, b""
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        target = self.tool("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.tool("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.tool(f"{domain}.enable")

    def tool(self, command: str, **parameters: Any) -> Any:
        """What Chromium answers to a command of its protocol."""
        self.asked += 1
        message = {"id": self.asked, "method": command, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        limit = time.monotonic() + SECONDS
        while (told := self._hear(limit)).get("id") != self.asked:
            self.events.append(told)
        if "error" in told:
            raise AssertionError(f"{command}: {told['error']['message']}")
        return told["result"]

    def open(self, page: Path, *, width: int = 1600, scheme: str = "light", motion: str = "reduce") -> None:
        """Show a page in a window of a width, to somebody who likes it light or dark, moving or not."""
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        self.tool("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features.items()])
        self.events = [told for told in self.events if told.get("method") != "Page.loadEventFired"]
        failed = self.tool("Page.navigate", url=page.resolve().as_uri()).get("errorText")
        assert failed is None, f"{page}: {failed}"
        limit = time.monotonic() + SECONDS
        while not any(told.get("method") == "Page.loadEventFired" for told in self.events):
            self.events.append(self._hear(limit))
        self.run(DRAWN)

    def run(self, script: str, *arguments: Any, **where: Any) -> Any:
        """What a function with this body returns in the page, or what its promise comes to; `contextId`: in a frame."""
        own = f"(function () {{ {script}\n }}).apply(null, {json.dumps(arguments)})"
        told = self.tool("Runtime.evaluate", expression=own, awaitPromise=True, returnByValue=True, **where)
        if "exceptionDetails" in told:
            raise AssertionError(told["exceptionDetails"].get("exception", told["exceptionDetails"]))
        return told["result"].get("value")

    def wait(self, script: str, **where: Any) -> Any:
        """What a function with this body returns in the page, as soon as that is true of anything."""
        limit = time.monotonic() + SECONDS
        while not (found := self.run(script, **where)):
            assert time.monotonic() < limit, f"never true: {script}"
            time.sleep(0.02)
        return found

    def frame(self) -> dict[str, int]:
        """Where to run what is to be run in the frame of the page, of which it must have one."""
        (child,) = self.tool("Page.getFrameTree")["frameTree"]["childFrames"]
        made = self.tool("Page.createIsolatedWorld", frameId=child["frame"]["id"])
        return {"contextId": made["executionContextId"]}

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            own = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
            text = {"text": TYPED[key]} if key in TYPED else {}
            self.tool("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **own, **text)
            self.tool("Input.dispatchKeyEvent", type="keyUp", **own)

    def complaints(self) -> list[str]:
        """What the console says since it was last asked."""
        self.run("return new Promise((done) => setTimeout(done, 0))")  # what was said before it has come by then
        said = [_said(told["method"], told["params"]) for told in self.events if "method" in told]
        self.events = []
        return [text for text in said if text is not None]

    def _hear(self, limit: float) -> dict[str, Any]:
        while b"\0" not in self.rest:
            if not select.select([self.reading], [], [], max(0, limit - time.monotonic()))[0]:
                raise AssertionError(f"Chromium says nothing for {SECONDS} s")
            more = os.read(self.reading, 1 << 16)
            if not more:
                raise AssertionError("Chromium has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        told: dict[str, Any] = json.loads(message)
        return told


def _said(method: str, told: dict[str, Any]) -> str | None:
    if method == "Log.entryAdded":
        return str(told["entry"]["text"])
    if method == "Runtime.consoleAPICalled":
        return " ".join(str(one.get("value", one.get("description"))) for one in told["args"])
    if method == "Runtime.exceptionThrown":
        details = told["exceptionDetails"]
        return str(details.get("exception", {}).get("description", details["text"]))
    return None


Show = Callable[..., Browser]
"""Opens a page that is given as text; fixture `show`."""


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile, which is closed in the end."""
    assert CHROMIUM is not None
    theirs, writing = _high_pipe()
    reading, their_own = _high_pipe()
    pipes = [(os.POSIX_SPAWN_DUP2, theirs, 3), (os.POSIX_SPAWN_DUP2, their_own, 4)]  # as Chromium wants them
    silence = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
    command = [CHROMIUM, *ARGUMENTS, f"--user-data-dir={profile}"]
    process = os.posix_spawn(CHROMIUM, command, os.environ, file_actions=[*pipes, silence])
    os.close(theirs)
    os.close(their_own)
    try:
        opened = Browser(reading, writing)
        yield opened
        opened.session = None
        opened.tool("Browser.close")
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
        raise
    finally:
        os.waitpid(process, 0)
        os.close(reading)
        os.close(writing)


def _high_pipe() -> list[int]:
    """Both ends of a pipe, by numbers that are not those that Chromium wants."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high
