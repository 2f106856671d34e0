"""Which files an evaluation is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifold.errors import TrifoldError
from trifold.pddl.folder import check_folder, find_domain, find_problems, natural_key


def test_problems_come_in_natural_order_and_without_the_domain(tmp_path: Path) -> None:
    for name in ["p10.pddl", "p2.pddl", "P1.PDDL", "domain.pddl", "notes.txt", "p2b.pddl"]:
        (tmp_path / name).touch()
    (tmp_path / "folder.pddl").mkdir()
    assert [file.name for file in find_problems(tmp_path)] == ["P1.PDDL", "p2.pddl", "p2b.pddl", "p10.pddl"]
    assert find_problems(tmp_path / "p2.pddl") == [tmp_path / "p2.pddl"]


def test_an_empty_or_missing_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").touch()
    with pytest.raises(TrifoldError, match="no problems"):
        find_problems(tmp_path)
    with pytest.raises(TrifoldError, match="no such"):
        find_problems(tmp_path / "none")


def test_a_folder_of_splits_is_told_with_those_that_have_problems(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").touch()
    for split in ("test", "train", "empty"):
        (tmp_path / split).mkdir()
    for split in ("test", "train"):
        (tmp_path / split / "p.pddl").touch()
    with pytest.raises(TrifoldError, match="no problems") as caught:
        find_problems(tmp_path)
    assert caught.value.remedy == f"name one of {tmp_path / 'test'}, {tmp_path / 'train'}"


def test_the_domain_is_beside_the_problems_or_above_them(tmp_path: Path) -> None:
    folder = tmp_path / "test"
    folder.mkdir()
    problem = folder / "p.pddl"
    problem.touch()
    assert find_domain(folder) is None
    (tmp_path / "domain.pddl").touch()
    assert find_domain(folder) == find_domain(problem) == (tmp_path / "domain.pddl").resolve()
    (folder / "domain.pddl").touch()
    assert find_domain(folder) == find_domain(problem) == (folder / "domain.pddl").resolve()


@pytest.mark.parametrize("name", ["p01-domain.pddl", "domain-p01.pddl", "domain_p01.pddl"])
def test_a_problem_may_have_a_domain_of_its_own(name: str, tmp_path: Path) -> None:
    for file in (name, "domain.pddl", "p01.pddl", "p01-small.pddl", "p011.pddl"):
        (tmp_path / file).touch()
    found = {file: find_domain(tmp_path / file) for file in ("p01.pddl", "p01-small.pddl", "p011.pddl")}
    assert {file: domain.name for file, domain in found.items() if domain} == {
        "p01.pddl": name,
        "p01-small.pddl": name,
        "p011.pddl": "domain.pddl",
    }


@given(st.text("ab9-", max_size=4), st.integers(0, 10**6), st.integers(0, 10**6))
def test_numbers_in_names_are_compared_as_numbers(word: str, first: int, second: int) -> None:
    word = word.rstrip("9")
    assert (natural_key(f"{word}{first}") < natural_key(f"{word}{second}")) == (first < second)


@given(st.lists(st.text(max_size=5)))
def test_every_two_names_can_be_compared(names: list[str]) -> None:
    assert sorted(sorted(names, key=natural_key, reverse=True), key=lambda name: (natural_key(name), name)) == sorted(
        names, key=lambda name: (natural_key(name), name)
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [("kez", "key"), ("key/trian", "key/train"), ("kez/train", "key/train"), ("keys.txt", None), ("other", None)],
)
def test_a_misspelt_folder_is_told_with_the_one_that_is_meant(tmp_path: Path, given: str, meant: str | None) -> None:
    (tmp_path / "key" / "train").mkdir(parents=True)
    (tmp_path / "key.txt").write_text("no folder")
    with pytest.raises(TrifoldError, match="there is no such folder") as caught:
        check_folder(tmp_path / given)
    assert caught.value.remedy == (f"did you mean {tmp_path / meant}?" if meant else "check the path")


def test_a_file_or_a_folder_may_be_meant_where_either_will_do(tmp_path: Path) -> None:
    (tmp_path / "p01.pddl").write_text("")
    with pytest.raises(TrifoldError, match="no such file or folder") as caught:
        find_problems(tmp_path / "p01.pdl")
    assert caught.value.remedy == f"did you mean {tmp_path / 'p01.pddl'}?"
    with pytest.raises(TrifoldError, match="a file, and no folder") as caught:
        check_folder(tmp_path / "p01.pddl")
    assert caught.value.remedy == f"give its folder: {tmp_path}"
