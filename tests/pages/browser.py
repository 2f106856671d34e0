"""A browser for tests: Chromium without a window, told what to do over the WebDriver protocol, which is plain HTTP."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Home": "\ue011", "End": "\ue010", " ": " ", "Escape": "\ue00c"}

SECONDS = 120


class Browser:
    """One session of a browser."""

    def __init__(self, address: str, profile: Path) -> None:
        options = {"args": [*ARGUMENTS, f"--user-data-dir={profile}"], "binary": CHROMIUM}
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": options}
        session = _ask("POST", f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.address = f"{address}/session/{session}"

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """What the driver answers to a command of the protocol."""
        return _ask(method, self.address + path, {} if body is None and method == "POST" else body)

    def tool(self, command: str, **parameters: Any) -> Any:
        """What Chromium's own tools answer."""
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, page: Path, *, width: int = 1600, scheme: str = "light", motion: str = "reduce") -> None:
        """Show a page in a window of a width, to somebody who likes it light or dark, moving or not."""
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        self.tool("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features.items()])
        self.ask("POST", "/url", {"url": page.resolve().as_uri()})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a function with this body returns in the page."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        actions = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def complaints(self) -> list[str]:
        """What the console says since it was last asked."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile, which is closed in the end."""
    assert DRIVER is not None
    driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert driver.stdout is not None
    try:
        port = next(line.rstrip(".\n").split()[-1] for line in driver.stdout if "started successfully on port" in line)
        opened = Browser(f"http://127.0.0.1:{port}", profile)
        try:
            yield opened
        finally:
            opened.ask("DELETE", "")
    finally:
        driver.terminate()
        driver.wait()
        driver.stdout.close()


def _ask(method: str, address: str, body: dict[str, Any] | None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    request = Request(address, content, {"Content-Type": "application/json"}, method=method)
    try:
        with urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)["value"]
    except HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from None
