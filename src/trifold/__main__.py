"""`trifold`, and `python -m trifold`, is the command line."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; an interrupt while it is loaded, when nothing has begun, just ends the process."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from trifold.commands import main as run

    signal.signal(signal.SIGINT, handler)
    run()


if __name__ == "__main__":
    main()
