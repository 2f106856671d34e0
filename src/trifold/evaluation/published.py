"""The paper's results as data: coverage and plan lengths, per domain and architecture.

They are those of the two tables of its experiments and, for Navig-xy, of the text of its example, which gives coverages
alone. Means are truncated there, where ours are not. A median or a mean of an even number of plans may end in a half.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

PUBLISHED_IN = (
    "Simon Ståhlberg, Blai Bonet, Hector Geffner: Learning More Expressive General Policies for Classical Planning "
    "Domains, AAAI 2025"
)
"""The paper."""

SEEDS = 3
"""How many models the paper trains for each row; it keeps the one with the least validation loss."""

SECONDS = SEEDS * 12 * 3600
"""Their training on an NVIDIA A10."""

OWN_FILES = {
    "blocks-s": "ae307255ef84690df9fa2383dd0bda1d3d0ead839abb5f51dd9e7befff7e2d18",
    "blocks-m": "24e116c2c41b75e045218fb816b70d304c507ecbd0d455ac81ac10405f6eb497",
    "gripper": "d741e49c7ba505611d2a8d5725aef90780eed16acc971c809a26459f16f65e01",
    "miconic": "861eaa897b6fb97b6fd3939f1317f6ebe63c84aac4a57e0e5c561c79f9b7606b",
    "logistics": "6717b28233a593a0597669f35569583c9b11512076bf1c565c84b2c865b1f774",
}
"""The domains whose public test files are those that the paper's rows are about, with the hash of these files: the
SHA-256 over their names and SHA-256s, as docs/instances.md has it."""

PDDL_NAMES = {
    "blocks": "blocks-s",
    "blocksworld-4ops": "blocks-m",
    "gripper-strips": "gripper",
    "grid-visit-all": "visitall",
    "logistics-strips": "logistics",
    "rover": "rovers",
    "robot-vacuum": "vacuum",
}
"""Names of domains in PDDL, where the paper has other ones."""

# domain, architecture, solved, instances, total, median and mean length; the Edge Transformer and the 2-GNN have no
# rows for Rovers and Vacuum: both have ternary predicates.
_ROWS = """
blocks-s     R-GNN     17 17  674 38   39
blocks-s     R-GNN[0]  17 17  670 36   39
blocks-s     R-GNN[1]  17 17  684 36   40
blocks-s     R-GNN₂    14 17  922 35   65
blocks-s     2-GNN     17 17  678 36   39
blocks-s     ET        16 17  826 38   51
blocks-m     R-GNN     22 22  868 40   39
blocks-m     R-GNN[0]  22 22  830 39   37
blocks-m     R-GNN[1]  22 22  834 39   37
blocks-m     R-GNN₂    22 22  936 39   42
blocks-m     2-GNN     20 22  750 40   37
blocks-m     ET        18 22  966 39   53
gripper      R-GNN     18 18 4800 231  266
gripper      R-GNN[0]  18 18 1764 98   98
gripper      R-GNN[1]  11 18  847 77   77
gripper      R-GNN₂    18 18 1764 98   98
gripper      2-GNN      1 18   53 53   53
gripper      ET         4 18  246 61   61
miconic      R-GNN     20 20 1342 67   67
miconic      R-GNN[0]  20 20 1566 71   78
miconic      R-GNN[1]  20 20 2576 71   128
miconic      R-GNN₂    20 20 1342 67   67
miconic      2-GNN     12 20  649 54.5 54
miconic      ET        20 20 1368 68   68
visitall     R-GNN     18 22  636 29   35
visitall     R-GNN[0]  21 22 1128 35   53
visitall     R-GNN[1]  22 22  886 35   40
visitall     R-GNN₂    20 22  739 33   36
visitall     2-GNN     18 22  626 32   34
visitall     ET        18 22  670 29   37
grid         R-GNN      9 20  109 11   12
grid         R-GNN[0]  12 20  177 11   14
grid         R-GNN[1]  15 20  209 13   13
grid         R-GNN₂    10 20  124 11.5 12
grid         2-GNN      6 20   82 11.5 13
grid         ET         1 20   15 15   15
logistics    R-GNN     10 20  510 51   51
logistics    R-GNN[0]   9 20  439 48   48
logistics    R-GNN[1]  20 20 1057 52   52
logistics    R-GNN₂    15 20  799 52   53
logistics    2-GNN      0 20    -  -   -
logistics    ET         0 20    -  -   -
rovers       R-GNN      9 20 2599 280  288
rovers       R-GNN[0]  14 20 2418 153  172
rovers       R-GNN[1]  14 20 1654 55   118
rovers       R-GNN₂    11 20 2225 239  202
vacuum       R-GNN     20 20 4317 141  215
vacuum       R-GNN[0]  20 20  183 9    9
vacuum       R-GNN[1]  20 20  192 9    9
vacuum       R-GNN₂    20 20  226 9    11
visitall-xy  R-GNN      5 20  893 166  178
visitall-xy  R-GNN[0]  15 20 1461 84   97
visitall-xy  R-GNN[1]  20 20 1829 83   91
visitall-xy  R-GNN₂    19 20 2428 116  127
visitall-xy  2-GNN     12 20 1435 115  119
visitall-xy  ET         3 20  455 138  151
navig-xy     R-GNN     43 72    -  -   -
navig-xy     R-GNN[0]  58 72    -  -   -
navig-xy     R-GNN[1]  72 72    -  -   -
navig-xy     ET         3 72    -  -   -
"""


@dataclass(frozen=True)
class Published:
    """A row of the paper's tables; lengths are None where nothing was solved, or where the paper gives none.

    policy  "values", or "strict" for Navig-xy
    """

    domain: str
    model: str
    policy: str
    solved: int
    instances: int
    total: int | None
    median: float | None
    mean: int | None


def _read(line: str) -> Published:
    domain, model, solved, instances, *lengths = line.split()
    total, median, mean = (None if word == "-" else float(word) for word in lengths)
    return Published(
        domain,
        model,
        "strict" if domain == "navig-xy" else "values",
        int(solved),
        int(instances),
        None if total is None else int(total),
        median,
        None if mean is None else int(mean),
    )


PUBLISHED = {(row.domain, row.model): row for row in map(_read, _ROWS.strip().splitlines())}
"""All rows by domain and architecture, in the paper's order, Navig-xy last."""


def published_rows(name: str) -> tuple[Published, ...]:
    """The paper's rows about a domain by its name in PDDL; none if the paper has no domain of that name.

    >>> [(row.model, row.solved) for row in published_rows("gripper-strips")][:3]
    [('R-GNN', 18), ('R-GNN[0]', 18), ('R-GNN[1]', 11)]
    """
    domain = PDDL_NAMES.get(name, name)
    return tuple(row for row in PUBLISHED.values() if row.domain == domain)


def are_own_files(domain: str, problems: Mapping[str, str]) -> bool:
    """Whether problems, each the name of a file with its SHA-256, are those that the paper's rows are about."""
    listed = "".join(f"{name}:{digest}\n" for name, digest in sorted(problems.items()))
    return OWN_FILES.get(domain) == hashlib.sha256(listed.encode()).hexdigest()
