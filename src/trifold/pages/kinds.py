"""The kinds of pages, each with the parts that it is made of."""

from __future__ import annotations

from trifold.pages.skeleton import Kind

DRAWN = (
    "given.js",
    "svg.js",
    "data.js",
    "scene.js",
    "draw-board.js",
    "draw-boxes.js",
    "draw-graph.js",
    "draw-towers.js",
    "drawers.js",
)
"""What draws states."""

TRACE = Kind(
    body="trace.html",
    styles=("page.css", "trace.css"),
    scripts=(*DRAWN, "axes.js", "theme.js", "chart.js", "around.js", "panels.js", "main.js"),
)

STATE = Kind(body="state.html", styles=("page.css", "trace.css", "state.css"), scripts=(*DRAWN, "state.js"))

REPORT = Kind(
    body="report.html",
    styles=("page.css", "report.css"),
    scripts=("given.js", "svg.js", "axes.js", "theme.js", "plot.js", "training.js", "evaluated.js", "report.js"),
)
