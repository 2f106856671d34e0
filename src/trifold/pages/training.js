// What a training learned from, how, and its curves.

function trainingSection(told, id) {
  return make("section", { id, "aria-labelledby": `${id}-name` },
    make("h2", { id: `${id}-name` }, told.name, make("span", { class: "tag" }, "training")), make("p", { class: "quiet" }, told.summary),
    make("div", { class: "grid-two" },
      make("div", { class: "stack" },
        make("div", { class: "panel" }, make("h3", {}, "What was trained on"), facts(told.data)),
        make("div", { class: "panel" }, make("h3", {}, "Where it comes from"), facts(told.origin))),
      make("div", { class: "stack" },
        make("div", { class: "panel" }, make("h3", {}, "Recipe and architecture"), make("div", { class: "recipe" }, ...told.recipe.map(([name, pairs]) => make("div", {}, make("h4", {}, name), facts(pairs))))),
        told.sizes.length ? make("div", { class: "panel" }, make("h3", {}, "Training problems by size"), sizeBars(told.sizes)) : null)),
    make("div", { class: "plots" }, ...curves(told)),
    folded(`The problems (${told.problems.length})`, problemTable(told.problems)),
    told.seeds.some((seed) => seed.lines.length) ? folded("The numbers of the curves", ...told.seeds.map(metricsTable)) : null);
}

// How many problems have so many objects, as bars with their numbers.
function sizeBars(sizes) {
  const most = Math.max(...sizes.map(([, count]) => count));
  const bar = (count) => draw("svg", { class: "size-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, draw("rect", { width: (100 * count) / most, height: 8, rx: 1 }));
  return table(["objects", "problems", ""], sizes.map(([objects, count]) => [spelt(objects), spelt(count), bar(count)]), { words: 0, caption: "Training problems by their number of objects" });
}

function problemTable(problems) {
  const heads = ["problem", "role", "outcome", "states", "kept", "dead ends", "largest V*"];
  return table(heads, problems.map((one) => [one.file, one.role, one.message ? `${one.outcome}: ${one.message}` : one.outcome, ...[one.states, one.kept, one.dead_ends, one.largest_value].map(spelt)]), { words: 3, caption: "The problems of the training" });
}

function curves(told) {
  const seeds = told.seeds.filter((seed) => seed.lines.length), alone = seeds.length === 1;
  if (!seeds.length) return [make("p", { class: "panel quiet" }, "No line of metrics was written: nothing was validated yet.")];
  const kept = (seed) => seed.is_kept && !alone ? " (kept)" : "";
  const named = (seed, what) => alone ? what : `${seed.name.replace("-", " ")}${kept(seed)}, ${what}`;
  const series = (seed, look, what, value, line) => ({
    name: named(seed, what), look, line, dots: seed.lines.length < 30,
    points: seed.lines.filter((one) => finite(value(one))).map((one) => [one.step, value(one), `${named(seed, what)}, step ${spelt(one.step)}: ${spelt(value(one))}`]),
  });
  const chart = (about) => ({ ...about, x: "steps", from: 0, series: about.series.filter((one) => one.points.length) });
  const share = (solved, problems) => (line) => line[problems] ? (100 * line[solved]) / line[problems] : null;
  const both = (lines) => seeds.flatMap((seed, i) => lines(seed, alone ? 0 : i));
  const least = seeds.map((seed) => {
    const line = seed.lines.reduce((best, one) => (one.validation < best.validation ? one : best));
    return `${spelt(line.validation)} at step ${spelt(line.step)}${alone ? "" : ` of ${seed.name.replace("-", " ")}${kept(seed)}`}`;
  });
  return [
    chart({ title: "Losses", y: "loss, logarithmic", log: true, note: `Least validation loss: ${least.join("; ")}.`, series: both((seed, i) => [series(seed, i, "validation", (line) => line.validation, "whole"), series(seed, alone ? 1 : i, "training", (line) => line.loss, "dashed")]) }),
    chart({ title: "Coverage of the policy", y: "problems solved, %", within: [0, 104], series: both((seed, i) => [series(seed, i, "held-out problems", share("solved", "problems"), "whole"), series(seed, alone ? 1 : i, "larger problems", share("larger_solved", "larger_problems"), "dashed")]) }),
    chart({ title: "Plan length on held-out problems", y: "length / V*, of solved", least: 1e-4, series: both((seed, i) => [series(seed, i, "held-out problems", (line) => line.length ?? null, "whole")]) }),
    chart({ title: "Scores of actions", y: "states whose best-scored action is optimal, %", least: 0.01, series: both((seed, i) => [series(seed, i, "validation", (line) => finite(line.optimal) ? 100 * line.optimal : null, "whole")]) }),
  ].filter((one) => one.series.length).map((one) => new Plot(one).element);
}

function metricsTable(seed) {
  const names = [...new Set(seed.lines.flatMap((line) => Object.keys(line)))];
  return make("div", {}, make("h4", {}, seed.name + (seed.is_kept ? " (kept)" : "")), table(names.map((name) => name.replaceAll("_", " ")), seed.lines.map((line) => names.map((name) => finite(line[name]) ? spelt(line[name]) : "–")), { words: 0, caption: `Metrics of ${seed.name}`, header: false }));
}
