// What was tried on the problems of a domain: by size, beside each other and beside the best known, and what failed.

const MOST_COLUMNS = 12, MOST_LISTED = 400;
const named = (contender) => `${contender.model} · ${contender.acts}`;

// A table of lines below the names of their domains, if more than one may be told of; what is published is told apart.
function lineTable(heads, lines, words, caption, named = null) {
  const whole = table(heads.slice(1), lines.map(({ cells }) => cells.slice(1)), { words: words - 1, caption });
  whole.querySelectorAll("tbody tr").forEach((row, i) => {
    row.classList.toggle("published", lines[i].is_published);
    if (named && lines[i].cells[0] !== lines[i - 1]?.cells[0]) row.before(make("tr", { class: "domain" }, make("th", { scope: "rowgroup", colspan: heads.length - 1 }, named(lines[i].cells[0]))));
  });
  return whole;
}

function overview(lines, heads, words, domains) {
  const linked = (domain) => make("a", { href: `#domain-${domains.indexOf(domain)}` }, domain);
  const note = "Lengths are over the problems that the row's own model solved." + (lines.some((line) => line.is_published) ? " What the paper has is in italics." : "");
  return make("section", { id: "overview", "aria-labelledby": "overview-name" }, make("h2", { id: "overview-name" }, "What policies did"),
    make("div", { class: "panel" }, lineTable(heads, lines, words, "Coverage and plan length of each model and policy", linked), make("p", { class: "quiet" }, note)));
}

function published(told, words) {
  return make("div", { class: "panel" }, make("h3", {}, "Beside the paper"), lineTable(told.heads, told.lines, words, "What was tried, and what the paper has"), make("p", { class: "quiet" }, told.instances), make("p", { class: "quiet" }, told.source));
}

function domainSection(told, id) {
  const failures = told.contenders.flatMap((row) => row.attempts.filter((one) => one.outcome !== null).map((one) => ({ row, one })));
  const sized = told.problems.filter((problem) => finite(problem.objects));
  const unknown = told.problems.length - sized.length;
  return make("section", { id, "aria-labelledby": `${id}-name` },
    make("h2", { id: `${id}-name` }, told.domain, make("span", { class: "tag" }, counted(told.problems.length, "problem")), failures.length ? make("span", { class: "tag bad" }, counted(failures.length, "failure")) : make("span", { class: "tag good" }, "all solved")),
    unknown ? make("p", { class: "quiet" }, `Of ${counted(unknown, "problem")} no record says how many objects they have: they are in the tables alone.`) : null,
    sized.length ? coverage(told) : null,
    make("div", { class: "plots" }, ...charts(told)),
    told.published ? published(told.published, data.names) : null,
    failures.length ? failureList(told, failures) : null,
    folded(`All attempts, problem by problem (${told.problems.length})`, attemptTable(told)));
}

// Sizes as columns: each its own if they are few, or else spans of equal width.
function columnsOf(problems) {
  const sizes = [...new Set(problems.map((problem) => problem.objects).filter(finite))].sort((a, b) => a - b);
  if (sizes.length <= MOST_COLUMNS) return sizes.map((size) => ({ low: size, high: size, name: spelt(size) }));
  const width = [1, 2, 5, 10].map((own) => own * 10 ** Math.floor(Math.log10((sizes.at(-1) - sizes[0] + 1) / MOST_COLUMNS))).find((own) => (sizes.at(-1) - sizes[0] + 1) / own <= MOST_COLUMNS);
  const columns = [];
  for (let low = Math.floor(sizes[0] / width) * width; low <= sizes.at(-1); low += width) {
    if (sizes.some((size) => size >= low && size < low + width)) columns.push({ low, high: low + width - 1, name: width > 1 ? `${low}–${low + width - 1}` : String(low) });
  }
  return columns;
}

function coverage(told) {
  const columns = columnsOf(told.problems);
  const cell = (attempts) => {
    if (!attempts.length) return "";
    const solved = attempts.filter((one) => one.outcome === null).length;
    const shade = make("span", { class: "share" }, `${solved}/${attempts.length}`);
    shade.style.setProperty("--share", `${(100 * solved) / attempts.length}%`);
    shade.dataset.all = solved === attempts.length;
    return [shade];
  };
  const rows = told.contenders.map((row, i) => [
    [make("span", { class: "who" }, swatch(i), make("span", {}, make("span", { class: row.model.length <= 16 ? "whole" : null }, row.model), ` · ${row.acts}`))],
    cell(row.attempts),
    ...columns.map(({ low, high }) => cell(row.attempts.filter((one) => { const size = told.problems[one.problem].objects; return finite(size) && size >= low && size <= high; }))),
  ]);
  return make("div", { class: "panel coverage" }, make("h3", {}, "Coverage against problem size"), table(["objects", "all", ...columns.map((column) => column.name)], rows, { words: 1, caption: `Problems solved of ${told.domain}, by their number of objects` }));
}

function charts(told) {
  const series = (value, spell) => told.contenders.map((row, i) => ({
    name: named(row), look: i, dots: true,
    points: row.attempts.map((one) => [told.problems[one.problem].objects, value(one, told.problems[one.problem]), one]).filter(([x, y]) => finite(x) && finite(y)).map(([x, y, one]) => [x, y, `${named(row)}, ${told.problems[one.problem].name}, ${counted(x, "object")}: ${spell(y)}`]),
  })).filter((one) => one.points.length);
  const known = told.problems.filter((problem) => finite(problem.objects) && finite(problem.best));
  const best = { name: known.every((problem) => problem.is_optimal) ? "optimal length" : "best known length", look: BEST, dots: true, points: known.map((problem) => [problem.objects, problem.best, `${problem.name}: ${problem.is_optimal ? "optimal" : "best known"}, ${counted(problem.best, "step")}`]) };
  const plots = [
    { title: "Plan length against problem size", y: "steps of the plan", series: [...(known.length ? [best] : []), ...series((one) => one.length, (y) => counted(y, "step"))] },
    { title: known.every((problem) => problem.is_optimal) ? "Plan length over the optimum" : "Plan length over the best known", y: "length / best known", least: 1e-4, series: series((one, problem) => problem.best && one.length !== null ? one.length / problem.best : null, (y) => `${spelt(y)} × the best known`), note: known.some((problem) => problem.is_optimal) && !known.every((problem) => problem.is_optimal) ? `Of ${known.filter((problem) => problem.is_optimal).length} of ${known.length} problems the best known is proved optimal.` : null },
    { title: "Seconds a problem", y: "seconds, logarithmic", log: true, series: series((one) => one.outcome === null ? one.seconds : null, (y) => `${spelt(y)} s`), note: told.contenders.some((row) => row.attempts.some((one) => one.outcome !== null)) ? "Of solved problems; a failure's seconds are in its line below." : null },
  ];
  return plots.filter((one) => one.series.some((own) => own.look !== BEST && own.points.length)).map((one) => new Plot({ x: "objects", apart: true, ...one }).element);
}

function failureList(told, failures) {
  const item = ({ row, one }) => {
    const problem = told.problems[one.problem], size = finite(problem.objects) ? counted(problem.objects, "object") : null;
    const facts = [named(row), size, counted(one.steps, "step"), `${spelt(one.seconds)} s`, finite(problem.best) ? `${problem.is_optimal ? "optimal" : "best known"} length ${problem.best}` : null];
    return make("li", {}, make("p", { class: "failed" }, make("strong", {}, problem.name), make("span", { class: "tag bad" }, one.outcome)), make("p", { class: "quiet" }, facts.filter(Boolean).join(" · ")),
      one.message ? make("p", { class: "message" }, one.message) : null, one.trace !== null ? traceOf(one.trace, problem.name) : null, one.note ? make("p", { class: "quiet" }, one.note) : null, one.command && one.trace === null ? make("code", {}, one.command) : null);
  };
  const left = failures.length - MOST_LISTED;
  return make("details", { class: "panel failures", open: failures.length <= 8 ? "" : null }, make("summary", {}, `Failures (${failures.length})`), make("ul", {}, ...failures.slice(0, MOST_LISTED).map(item)), left > 0 ? make("p", { class: "quiet" }, `and ${left} more: see all attempts below`) : null);
}

function attemptTable(told) {
  const cells = told.contenders.map((row) => new Map(row.attempts.map((one) => [one.problem, one])));
  const said = (one) => one === undefined ? "–" : `${one.outcome ?? (one.length === null ? "solved" : spelt(one.length))} · ${spelt(one.seconds)} s`;
  return make("div", {}, make("p", { class: "quiet" }, "The length of the plan, or the outcome, and the seconds."), table(["problem", "objects", "best known", ...told.contenders.map(named)], told.problems.map((problem, i) => [problem.name, spelt(problem.objects), problem.best === null ? "–" : `${spelt(problem.best)}${problem.is_optimal ? " (optimal)" : ""}`, ...cells.map((own) => said(own.get(i)))]), { words: 1, caption: `All attempts at problems of ${told.domain}` }));
}

// A trace page within this one, made when it is first opened; what runs in it cannot reach out of its frame.
function traceOf(number, name) {
  const details = make("details", { class: "trace" }, make("summary", {}, "Show what the policy did"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("iframe")) return;
    const frame = make("iframe", { sandbox: "allow-scripts", title: `A trace of ${name}` });
    frame.addEventListener("load", () => tell(frame));
    frame.srcdoc = data.frame[0] + data.traces[number] + data.frame[1];
    details.append(frame);
  });
  return details;
}
