"""The policies by name: to add one is a function in a file of its own, and its line here.

A policy outside of the package needs no line: a plugin adds it to the dict (`trifold.plugins`), or "module:function"
stands for a name. Python must find the module: beside the script that runs, or in a folder that PYTHONPATH names.
"""

from __future__ import annotations

from importlib import import_module

from trifold.errors import TrifoldError, did_you_mean
from trifold.planning.greedy import follow_strictly, follow_unvisited
from trifold.planning.policy import Policy
from trifold.planning.scored import follow_scores
from trifold.planning.search import search_by_beam, search_greedily, search_in_turns

POLICIES: dict[str, Policy] = {
    "actions": follow_scores,
    "values": follow_unvisited,
    "strict": follow_strictly,
    "turns": search_in_turns,
    "greedy": search_greedily,
    "beam": search_by_beam,
}

SEARCHES = ("turns", "greedy", "beam")
"""Those that end with a plan, with the proof that there is none, or at a limit: what may follow a policy."""


def find_policy(name: str) -> Policy:
    """The policy of this name, or the function of a "module:function".

    >>> find_policy("strict").__name__, find_policy("trifold.planning:follow_unvisited").__name__
    ('follow_strictly', 'follow_unvisited')
    """
    if name in POLICIES:
        return POLICIES[name]
    module, colon, function = name.partition(":")
    if not colon:
        known = f"use {', '.join(POLICIES)}, or module:function for your own"
        raise TrifoldError(f"there is no policy {name!r}", remedy=did_you_mean(name, POLICIES, known))
    try:
        policy: Policy = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise TrifoldError(
            f"the policy {name!r} cannot be imported: {error}",
            remedy="check both names, and put the folder of the module on PYTHONPATH",
        ) from error
    return policy
