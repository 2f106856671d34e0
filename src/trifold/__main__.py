"""`trifold`, and `python -m trifold`, is the command line; so is `python src/trifold`, where nothing is installed."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

if not __package__:  # a folder was run: what Python looks into is that folder, and not the one that it is in
    sys.path[0] = str(Path(__file__).resolve().parents[1])


def main() -> None:
    """Run the command line; an interrupt while it is loaded, when nothing has begun, just ends the process."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from trifold.commands import main as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "trifold":
            raise
        sys.exit(f"error: Trifold is not installed: there is no {error.name}\n  try: pip install . where its README is")
    signal.signal(signal.SIGINT, handler)
    run()


if __name__ == "__main__":
    main()
