"""Outcomes: one word for each end, an exit code for each failure, and older words are still read."""

import pytest

from trifold.errors import TrifoldError
from trifold.memory import OutOfMemory
from trifold.outcomes import Outcome


def test_every_failure_has_its_own_exit_code() -> None:
    failures = [outcome.exit_code for outcome in Outcome if outcome.exit_code]
    assert len(set(failures)) == len(failures) and min(failures) > 1
    good = {outcome for outcome in Outcome if outcome.exit_code == 0}
    assert good == {Outcome.FINISHED, Outcome.SOLVED, Outcome.LABELLED, Outcome.OPTIMAL, Outcome.BEST_KNOWN}


def test_an_error_ends_a_command_as_its_outcome_does() -> None:
    assert TrifoldError.exit_code == Outcome.BAD_INPUT.exit_code == 2
    assert OutOfMemory.exit_code == Outcome.MEMORY_LIMIT.exit_code == 7


@pytest.mark.parametrize(("word", "outcome"), [("time limit", "timeout"), ("input error", "bad input")])
def test_words_of_older_files_are_read(word: str, outcome: str) -> None:
    assert Outcome(word) == outcome


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        Outcome("nonsense")
