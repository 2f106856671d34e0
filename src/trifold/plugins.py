"""Code from outside the package that adds encoders, policies and domains: modules named in $TRIFOLD_PLUGINS.

A plugin is a module that adds to the public dicts when it is imported, such as ``ENCODERS["mine"] = lambda t: Mine()``.
The command line imports the plugins when it starts, and so does every child process. They are named by the user alone:
a model file can name an encoder, but never a module.
"""

from __future__ import annotations

import os
from importlib import import_module

from trifold.errors import TrifoldError

VARIABLE = "TRIFOLD_PLUGINS"


def load_plugins() -> None:
    """Import the modules that the environment names, separated by commas."""
    for name in os.environ.get(VARIABLE, "").split(","):
        if name.strip():
            try:
                import_module(name.strip())
            except ImportError as error:
                raise TrifoldError(
                    f"this plugin cannot be imported: {error}",
                    place=name.strip(),
                    remedy=f"put its folder on PYTHONPATH, or mend {VARIABLE}",
                ) from error
