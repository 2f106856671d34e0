"""The domains that problems can be generated for, by name: those of the paper, and whatever is added to them."""

from __future__ import annotations

from importlib.resources import files

from trifold.domains import (
    blocks_m,
    blocks_s,
    grid,
    gripper,
    logistics,
    miconic,
    navig_xy,
    rovers,
    vacuum,
    visitall,
    visitall_xy,
)
from trifold.domains.generator import Generator

_MODULES = {
    "blocks-s": blocks_s,
    "blocks-m": blocks_m,
    "gripper": gripper,
    "miconic": miconic,
    "visitall": visitall,
    "grid": grid,
    "logistics": logistics,
    "rovers": rovers,
    "vacuum": vacuum,
    "visitall-xy": visitall_xy,
    "navig-xy": navig_xy,
}
PAPER = tuple(_MODULES)
"""The domains of the paper, in its order: those of the suite ``paper``."""

DOMAINS = {
    name: Generator(
        name,
        module.DESCRIPTION,
        files("trifold.domains").joinpath(f"{name}.pddl").read_text(encoding="utf-8"),
        module.generate,
        module.PICTURE,
        module.suite,
    )
    for name, module in _MODULES.items()
}
"""All domains by name. A domain of your own joins them by ``DOMAINS["mine"] = Generator("mine", …)``."""


def domain_text(name: str) -> str:
    """The PDDL of a domain of ``DOMAINS``."""
    return DOMAINS[name].pddl
