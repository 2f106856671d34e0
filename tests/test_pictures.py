"""Pictures: lettering of 8 points at least, nothing that overlaps, and the same bytes whenever they are drawn."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from trifold.errors import TrifoldError
from trifold.pictures import FORMATS, add_legend, look, picture, picture_format, plain, spell_logarithm

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF-"}

NAMES = ["R-GNN, actions", "R-GNN[1] (model 0123abcd, max steps 1000), actions, then turns, improved for 10 s", "$x^{"]


def draw(figure: Figure) -> None:
    axes = figure.subplots()
    for number in range(len(NAMES)):
        axes.plot([0, 1, 2], [number, 2, number + 1], **look(number))
    axes.set(xlabel="objects", ylabel="problems solved, %", xticks=[0, 1, 2], yticks=[0, 3], ylim=(0, 3.2))
    add_legend(figure, axes.lines, NAMES)


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [(0.22, 3.1, ["0.5", "1", "2"]), (8.0, 90.0, ["10", "20", "50"]), (0.001, 2000.0, ["0.01", "1", "100"])],
)
def test_numbers_of_a_logarithmic_axis_are_spelt_as_people_do(low: float, high: float, names: list[str]) -> None:
    """And none as 6e-01, or as powers of ten beside plain numbers."""
    told: list[str] = []

    def logarithmic(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot([0, 1], [low, high])
        axes.set_yscale("log")
        spell_logarithm(axes.yaxis)
        figure.canvas.draw()
        ends = axes.get_ylim()
        found = zip(axes.get_yticks(), axes.get_yticklabels(which="both"), strict=False)
        told.extend(text.get_text() for at, text in found if ends[0] <= at <= ends[1])

    picture(logarithmic, "png")
    assert set(names) <= set(told) and not [text for text in told if "e" in text or "$" in text], told


def test_the_same_picture_has_the_same_bytes_in_another_process() -> None:
    """Its hour and its process leave no trace in it."""
    script = f"""import sys, hashlib; sys.path[:0] = {sys.path!r}
from test_pictures import FORMATS, draw, picture
print(*(hashlib.sha256(picture(draw, kind)).hexdigest() for kind in FORMATS))"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    files = {kind: picture(draw, kind) for kind in FORMATS}
    assert done.stdout.split() == [hashlib.sha256(file).hexdigest() for file in files.values()]
    assert all(file.startswith(MAGIC[kind]) for kind, file in files.items())


def lettering(figure: Figure) -> list[Text]:
    """All texts of a figure that are drawn."""
    return [one for one in figure.findobj(Text) if one.get_text().strip() and one.get_window_extent().width > 1]


def test_lettering_can_be_read_at_the_width_of_a_column_and_no_text_lies_on_another() -> None:
    found: list[Figure] = []

    def keep(figure: Figure) -> None:
        draw(figure)
        found.append(figure)

    picture(keep, "svg")
    found[0].draw_without_rendering()
    texts = lettering(found[0])
    assert {"objects", "problems solved, %", plain("$x^{")} <= {one.get_text() for one in texts}
    assert min(float(one.get_fontsize()) for one in texts) >= 8
    boxes = [one.get_window_extent() for one in texts]
    assert not [pair for pair in combinations(boxes, 2) if pair[0].shrunk(0.9, 0.7).overlaps(pair[1].shrunk(0.9, 0.7))]
    assert all(box.x1 <= found[0].bbox.x1 for box in boxes)


def test_what_is_no_picture_is_refused() -> None:
    assert [picture_format(Path(f"a.b.{kind.upper()}")) for kind in FORMATS] == list(FORMATS)
    with pytest.raises(TrifoldError, match="PNG, SVG or PDF"):
        picture_format(Path("coverage.jpg"))


def test_lines_are_told_apart_without_their_colours() -> None:
    looks = [look(number) for number in range(14)]
    assert len({(one["marker"], one["linestyle"]) for one in looks}) == len(looks)
    assert len({one["color"] for one in looks[:7]}) == 7
