"""The kinds of pages, each with the parts that it is made of."""

from __future__ import annotations

from trifold.pages.skeleton import Kind

TRACE = Kind(
    body="trace.html",
    styles=("page.css", "trace.css"),
    scripts=(
        "given.js",
        "svg.js",
        "axes.js",
        "theme.js",
        "data.js",
        "scene.js",
        "draw-board.js",
        "draw-boxes.js",
        "draw-graph.js",
        "draw-towers.js",
        "chart.js",
        "around.js",
        "panels.js",
        "main.js",
    ),
)

REPORT = Kind(
    body="report.html",
    styles=("page.css", "report.css"),
    scripts=("given.js", "svg.js", "axes.js", "theme.js", "plot.js", "training.js", "evaluated.js", "report.js"),
)
