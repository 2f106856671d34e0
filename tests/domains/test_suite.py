"""The suite ``paper``: frozen, the same everywhere, and no problem of one split in another."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any, cast

import pytest

from domains_page import domains_page
from trifold.domains import DOMAINS, PAPER, SPLITS, Split, domain_text, split_sizes
from trifold.domains.drawing import Drawn, base_certificate, draw_problems, draw_splits, drawn_for, known_skips
from trifold.domains.isomorphism import Structure, certificate, read_structure, varying_predicates
from trifold.domains.suite import MANIFEST, frozen_hashes, split_texts, write_suite, write_texts
from trifold.model import Model
from trifold.pddl import load_domain, load_problem
from trifold.pddl.folder import find_problems
from trifold.shipped import shipped_models

pytestmark = pytest.mark.xdist_group("suite")  # in one process, so that the suite is drawn once

TEST_PROBLEMS = {
    "blocks-s": 17,
    "blocks-m": 22,
    "gripper": 18,
    "miconic": 20,
    "visitall": 22,
    "grid": 20,
    "logistics": 20,
    "rovers": 20,
    "vacuum": 20,
    "visitall-xy": 20,
    "navig-xy": 72,
}
"""How many the paper has, in its order."""
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("suite")
    return folder, write_suite(folder)


def test_the_suite_is_what_was_frozen(suite: tuple[Path, dict[str, Any]]) -> None:
    """If a change is meant, store the manifest's "domains" as suite_hashes.json: all that was trained is then stale."""
    assert suite[1]["domains"] == frozen_hashes()


def test_the_manifest_has_the_hash_of_every_file(suite: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = suite
    assert json.loads((folder / MANIFEST).read_bytes()) == manifest
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.pddl")}
    assert manifest["files"] == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()}
    lines = [f"{value}  {name}\n" for name, value in sorted(manifest["files"].items()) if name.startswith("gripper/")]
    assert manifest["domains"]["gripper"] == hashlib.sha256("".join(lines).encode()).hexdigest()
    lines = [line for line in lines if "/test/" in line]
    assert manifest["splits"]["gripper"]["test"] == hashlib.sha256("".join(lines).encode()).hexdigest()


def test_every_domain_is_there_with_its_splits(suite: tuple[Path, dict[str, Any]]) -> None:
    assert list(PAPER) == list(TEST_PROBLEMS)
    for name, tests in TEST_PROBLEMS.items():
        counts = {split: len(list((suite[0] / name / split).iterdir())) for split in SPLITS}
        assert counts == {split: len(split_sizes(name, split)) for split in SPLITS}
        assert counts["test"] == tests
        assert 20 <= counts["train"] <= 6616 and 1 <= counts["validation"] <= 169
        assert (suite[0] / name / "domain.pddl").read_text(encoding="utf-8") == domain_text(name)


def first_validation(name: str) -> list[dict[str, int | str]]:
    """The sizes of the validation problems of the models in the box, when training was only unlike these problems."""
    sizes, training = split_sizes(name, "validation"), split_sizes(name, "train")
    match name:
        case "blocks-s":
            return [{"blocks": blocks} for blocks in [4, 4, 5, 5, 6, 6, 7, 8, 9]]
        case "blocks-m":
            tall: list[dict[str, int | str]] = [
                {"blocks": blocks, "tallest": tallest} for blocks, tallest in [(7, 6), (7, 7), (8, 7), (8, 8)]
            ]
            return [*({"blocks": blocks} for blocks in [4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 9]), *tall]
        case "gripper":
            return [{"balls": balls, "start": "random"} for balls in [2, 3, 5, 6, 8, 9, 11, 12, 14]]
        case "visitall":
            sizes[9:11] = [
                {"width": width, "height": height, "share": 100, "visited": visited}
                for width, height, visited in [(5, 4, 9), (7, 3, 10)]
            ]
        case "visitall-xy":
            sizes[9:11] = [
                {"width": width, "height": height, "share": 100, "visited": 9} for width, height in [(5, 4), (4, 5)]
            ]
        case "grid":
            return [size for number, size in enumerate(training) if size not in training[:number]]
    return sizes


def test_models_in_the_box_are_trained_on_the_suite(suite: tuple[Path, dict[str, Any]]) -> None:
    """On its training problems; of those that are older than recipes, the validation problems were others.

    These could have states of training problems. In Logistics by values there are those of nine more seeds.
    """
    domains = {name: name.removesuffix("-values").removesuffix("-teacher") for name in shipped_models()}
    assert set(domains.values()) == set(PAPER) <= set(shipped_models())
    for name, file in shipped_models().items():
        model, domain = Model.load(file), domains[name]
        folder = suite[0] / domain
        validation = [path.read_text(encoding="utf-8") for path in find_problems(folder / "validation")]
        if "recipe" not in model.provenance:
            tests = [read_structure(path.read_text(encoding="utf-8")) for path in find_problems(folder / "test")]
            taken = dict.fromkeys(map(certificate, tests), "test")
            drawn = draw_problems(domain, first_validation(domain), 0, "validation", taken)
            validation = [problem.text for problem in drawn]
        training = [path.read_text(encoding="utf-8") for path in find_problems(folder / "train")]
        for seed in range(101, 110) if name == "logistics-values" else ():
            training += [problem.text for problem in draw_splits(domain, seed, ["train"])["train"]]
        digest = hashlib.sha256((folder / "domain.pddl").read_bytes())
        for role, texts in (("validation", validation), ("training", training)):
            for text in texts:
                digest.update(f"\0{role}\0{hashlib.sha256(text.encode()).hexdigest()}".encode())
        assert model.provenance["data"]["hash"] == digest.hexdigest(), name


def test_no_problem_is_there_twice(suite: tuple[Path, dict[str, Any]]) -> None:
    for name in PAPER:
        paths = [path for split in SPLITS for path in (suite[0] / name / split).iterdir()]
        assert len({certificate(read_structure(path.read_text(encoding="utf-8"))) for path in paths}) == len(paths)


def test_no_problem_has_states_of_another_split(suite: tuple[Path, dict[str, Any]]) -> None:
    """States have the objects, static atoms and goal of their problem: its base."""
    for name in PAPER:
        bases = {
            split: {base_certificate(name, path.read_text(encoding="utf-8")) for path in find_problems(folder)}
            for split in SPLITS
            for folder in [suite[0] / name / split]
        }
        assert bases["validation"].isdisjoint(bases["train"]), name
        assert bases["test"].isdisjoint(bases["train"] | bases["validation"]), name


def test_bases_do_not_depend_on_starts_or_names() -> None:
    rng = random.Random(0)
    texts = [DOMAINS["gripper"].generate(rng, balls=4) for _ in range(20)]
    assert len({certificate(read_structure(text)) for text in texts}) > 5
    assert len({base_certificate("gripper", text) for text in texts}) == 1
    assert base_certificate("gripper", DOMAINS["gripper"].generate(rng, balls=3)) != base_certificate(
        "gripper", texts[0]
    )
    for name in TEST_PROBLEMS:
        domain = load_domain(domain_text(name))
        text = DOMAINS[name].generate(random.Random(1))
        problem = load_problem(domain, text)
        states = [problem.initial_state, *(state for _, state in problem.successors(problem.initial_state))]
        first, *others = [set(problem.atoms(state)) for state in states]
        changed = {atom.strip("()").split()[0] for atoms in others for atom in atoms ^ first}
        assert set() < changed <= varying_predicates(domain_text(name)) <= set(domain.description.predicates)


def test_the_page_is_what_the_code_makes(suite: tuple[Path, dict[str, Any]]) -> None:
    """To renew it: make domains."""
    page = (ROOT / "docs" / "domains.md").read_text(encoding="utf-8")
    dashes = re.sub(r"\| [\d,]+ \|$", "| – |", page, flags=re.MULTILINE)  # counts of states are measured
    assert dashes == domains_page(suite[0], {})


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_alone_is_that_of_all(split: Split) -> None:
    told: list[None] = []
    assert draw_splits("vacuum", 5, [split], lambda: told.append(None)) == {split: draw_splits("vacuum", 5)[split]}
    assert len(told) == sum(len(split_sizes("vacuum", part)) for part in drawn_for([split]))
    assert drawn_for([split])[-1] == split and (split == "validation") == (set(drawn_for([split])) == set(SPLITS))


def test_pictures_are_small() -> None:
    for domain in DOMAINS.values():
        lines = domain.picture.splitlines()
        assert 2 <= len(lines) <= 12 and max(map(len, lines)) <= 60 and "\n" not in domain.description
        assert "```" not in domain.picture and not domain.picture.endswith("\n")


def test_splits_depend_on_the_seed_alone() -> None:
    script = (
        "from trifold.domains import draw_splits\n"
        "print(*[p.text for name in ('vacuum', 'blocks-m') for s in draw_splits(name, 3).values() for p in s])"
    )
    for hash_seed in ("1", "2"):
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True)
        drawn = [
            problem.text
            for name in ("vacuum", "blocks-m")
            for split in draw_splits(name, 3).values()
            for problem in split
        ]
        assert done.stdout == " ".join(drawn) + "\n"
    assert draw_splits("blocks-m", 3) != draw_splits("blocks-m", 4)


def test_skipped_draws_change_no_problem() -> None:
    """That all of them give the frozen problems is what the hashes tell; here a few are drawn without skipping."""
    skips = known_skips()
    for seed in sorted(skips, key=skips.__getitem__)[::400]:
        name, _, split, number, _ = seed.split("/")
        options = split_sizes(name, cast(Split, split))[int(number) - 1]
        skipping = random.Random(seed)
        skipping.getrandbits(32 * skips[seed])
        assert DOMAINS[name].generate(skipping, **options) == DOMAINS[name].generate(random.Random(seed), **options)


def test_problems_alike_are_drawn_again_while_there_are_others() -> None:
    few = draw_problems("blocks-s", [{"blocks": 2}] * 4, seed=0)  # both on the table, or the tower upside down
    assert len({certificate(read_structure(problem.text)) for problem in few}) == 2
    taken: dict[str, str] = {}
    draw_problems("blocks-s", [{"blocks": 2}] * 2, 0, "test", taken)
    assert set(taken.values()) == {"test"} and len(taken) == 2
    with pytest.raises(ValueError, match="train"):
        draw_problems("blocks-s", [{"blocks": 2}], 0, "train", taken)
    with pytest.raises(ValueError, match="has states of training"):
        draw_problems("blocks-s", [{"blocks": 2}], 0, "validation", {}, {base_certificate("blocks-s", few[0].text)})


def test_nothing_is_replaced(tmp_path: Path) -> None:
    def write(name: str, splits: dict[str, list[Drawn]]) -> None:
        write_texts(tmp_path, split_texts(name, splits))

    splits = draw_splits("gripper", 1)
    write("gripper", splits)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.pddl")}
    write("gripper", splits)  # the same again is no change
    fewer, more = splits["train"][:-1], splits["train"] + splits["test"]
    for name, other in [("gripper", draw_splits("gripper", 2)), ("gripper", {"train": fewer}), ("vacuum", {})]:
        with pytest.raises(FileExistsError):
            write(name, other)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    write("gripper", {"train": more})


def test_an_interrupt_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "replace", interrupt)
        write_texts(tmp_path, {"domain.pddl": "any"})
    assert list(tmp_path.iterdir()) == []
    os.mkfifo(tmp_path / "domain.pddl")
    with pytest.raises(FileExistsError):  # at once: nobody writes to the pipe
        write_texts(tmp_path, {"domain.pddl": "any"})


def test_the_manifest_of_another_selection_is_kept(tmp_path: Path) -> None:
    write_suite(tmp_path, ["gripper", "blocks-s"])
    with pytest.raises(FileExistsError, match="MANIFEST"):
        write_suite(tmp_path, ["gripper"])
    with pytest.raises(KeyError):
        write_suite(tmp_path, ["chess"])


def renamed(structure: Structure, rng: random.Random) -> Structure:
    names = dict(zip(structure.objects, rng.sample([f"n{i}" for i in range(999)], len(structure.objects)), strict=True))
    atoms = [(relation, tuple(names.get(name, name) for name in arguments)) for relation, arguments in structure.atoms]
    return Structure(tuple(rng.sample(list(names.values()), len(names))), tuple(rng.sample(atoms, len(atoms))))


@pytest.mark.parametrize("name", TEST_PROBLEMS)
def test_a_certificate_does_not_depend_on_names_or_order(name: str) -> None:
    rng = random.Random(0)
    structure = read_structure(DOMAINS[name].generate(rng))
    assert certificate(renamed(structure, rng)) == certificate(structure)
    dropped = Structure(structure.objects, structure.atoms[1:])
    assert certificate(dropped) != certificate(structure)


def test_certificates_agree_with_all_renamings_of_small_structures() -> None:
    """The oracle tries every bijection; on so few objects colour refinement is complete but for regular graphs."""
    rng = random.Random(1)
    objects = ("a", "b", "c", "d")
    structures = []
    for _ in range(60):
        pairs = {tuple(rng.choices(objects, k=2)) for _ in range(rng.randint(1, 3))}
        structures.append(
            Structure(objects, (*(("init p", pair) for pair in sorted(pairs)), ("init q", (rng.choice(objects),))))
        )

    def isomorphic(first: Structure, second: Structure) -> bool:
        return any(
            {(r, tuple(objects[order[objects.index(x)]] for x in args)) for r, args in first.atoms} == set(second.atoms)
            for order in permutations(range(4))
        )

    for i, first in enumerate(structures):
        for second in structures[:i]:
            assert (certificate(first) == certificate(second)) == isomorphic(first, second)


def test_constants_of_the_domain_keep_their_names() -> None:
    texts = [f"(define (problem p) (:objects a b) (:init (p a {name})) (:goal (p b)))" for name in ("k", "m", "K")]
    first, other, same = [certificate(read_structure(text)) for text in texts]
    assert first != other and first == same
