"""Notebooks: what objects of Trifold look like there, once `import trifold` has been said in one.

Nothing is imported for it before the first of them is shown.
"""

from trifold.notebook.formatters import html, register

__all__ = ["html", "register"]
