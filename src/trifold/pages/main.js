// The page: a column for each trace, and controls that move all of them.

class Column {
  constructor(told, limits, go, select) {
    this.trace = new Trace(told);
    this.scene = new Scene();
    this.update = DRAWERS[data.drawing.kind](data.drawing, this.scene, this.trace);
    this.chart = new Chart(this.trace, limits, go);
    this.actions = new Actions(this.trace);
    this.goal = new Goal();
    this.around = new Around(this.trace, select);
    this.state = new State();
    this.now = make("p", { class: "now" });
    this.element = make("article", { class: "trace", "aria-label": told.name },
      this.heading(told),
      make("div", { class: "hold" }, make("div", { class: "body" },
        make("div", { class: "wide" }, make("section", { class: "panel stage" }, this.now, this.scene.element), make("section", { class: "panel" }, make("h3", {}, "Distance to the goal"), this.chart.element)),
        make("div", { class: "narrow" }, this.actions.element, this.goal.element, this.around.element, this.advice(told), this.state.element))));
    this.element.addEventListener("click", (event) => {
      const found = event.target.closest("[data-object]");
      if (found && numberOf.has(found.dataset.object)) select(found.dataset.object);
    });
  }
  heading(told) {
    const solved = told.outcome === "solved";
    return make("div", { class: "heading" }, make("h2", {}, told.name, make("span", { class: solved ? "tag good" : "tag bad" }, told.outcome)), ...told.verdict.map((line) => make("p", {}, line)));
  }
  advice(told) {
    if (!told.advice.length) return null;
    return make("section", { class: "panel" }, make("h3", {}, "What to try"), make("ul", { class: "advice" }, ...told.advice.map(([why, what]) => make("li", {}, why, make("code", {}, what)))));
  }
  // Room for the longest of the actions, so that the drawing stays where it is.
  reserve() {
    const actions = this.trace.steps.map((_, i) => this.trace.action(i) ?? ""), step = this.trace.steps[0];
    this.now.style.minHeight = "";
    this.tell(this.trace.end, actions.reduce((best, one) => (one.length > best.length ? one : best), ""), step);
    this.now.style.minHeight = `${this.now.offsetHeight}px`;
  }
  tell(number, before, step) {
    this.now.replaceChildren(make("span", {}, ...(before === null ? ["The initial state"] : [`Step ${number}: `, make("strong", {}, ...worded(before))])), make("span", { class: "values" }, finite(step.value) ? make("span", {}, `V ${shown(step.value, 2)}`) : null, step.distance === null ? null : make("span", {}, `V* ${shown(step.distance, 0)}`)));
  }
  show(number, selected) {
    const own = Math.min(number, this.trace.end), step = this.trace.steps[own], facts = this.trace.at(own);
    this.update(facts, own);
    this.trace.at(own);  // a drawing may have looked at other states
    this.chart.show(own);
    this.actions.show(own);
    this.goal.show(facts);
    this.state.show(facts, own ? step : null);
    this.around.show(facts, selected);
    const before = own ? this.trace.action(own - 1) : null;
    this.scene.follow(before === null ? [] : before.slice(1, -1).split(" ").slice(1));
    this.tell(own, before, step);
    this.element.dataset.step = own;
    for (const one of this.element.querySelectorAll(".selected")) one.classList.remove("selected");
    if (selected !== null) for (const one of this.element.querySelectorAll("[data-object]")) if (one.dataset.object === selected) one.classList.add("selected");
  }
}

function start() {
  const $ = (id) => document.getElementById(id);
  $("title").textContent = data.problem;
  $("subtitle").textContent = [`${data.domain}, ${counted(objects.length, "object")}`, data.problemFile].filter(Boolean).join(" · ");
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  let number = 0, selected = null, timer = null;
  const limits = limitsOf(data.traces.map((told) => ({ steps: told.steps, end: told.steps.length - 1 })));
  const columns = data.traces.map((told) => new Column(told, limits, (to) => { pause(); go(to); }, choose));
  $("traces").classList.add(columns.length > 1 ? "two" : "one");
  $("traces").append(...columns.map((column) => column.element));
  $("slider").max = limits.end;

  function go(to) {
    number = Math.max(0, Math.min(limits.end, to));
    for (const column of columns) column.show(number, selected);
    $("slider").value = number;
    $("where").textContent = `${number} / ${limits.end}`;
    const said = columns.map((column) => {
      const own = Math.min(number, column.trace.end), action = own ? column.trace.action(own - 1) : null;
      return (columns.length > 1 ? `${column.trace.name}: ` : "") + `step ${own} of ${column.trace.end}` + (action ? `, ${action.slice(1, -1)}` : ", the initial state");
    }).join("; ");
    $("slider").setAttribute("aria-valuetext", said);
    if (timer === null) $("said").textContent = said;
    for (const [id, is] of [["first", number === 0], ["back", number === 0], ["next", number === limits.end], ["last", number === limits.end]]) $(id).setAttribute("aria-disabled", is);
  }
  function choose(name) {
    selected = name;
    go(number);
  }
  function pause() {
    clearTimeout(timer);
    timer = null;
    $("play").setAttribute("aria-label", "Play");
    $("play-icon").setAttribute("d", "M7 4l13 8-13 8z");
    document.documentElement.style.setProperty("--move", "");
  }
  function play() {
    if (number === limits.end) go(0);
    const beat = () => {
      if (number >= limits.end) { pause(); return go(number); }
      go(number + 1);
      timer = setTimeout(beat, Number($("speed").value));
    };
    $("play").setAttribute("aria-label", "Pause");
    $("play-icon").setAttribute("d", "M6 4h4v16H6zM14 4h4v16h-4z");
    document.documentElement.style.setProperty("--move", reduced.matches ? "0s" : `${Math.min(0.35, Number($("speed").value) / 1500)}s`);
    timer = setTimeout(beat, Math.min(300, Number($("speed").value)));
  }
  const moves = { first: () => go(0), back: () => go(number - 1), next: () => go(number + 1), last: () => go(limits.end) };
  for (const [id, move] of Object.entries(moves)) $(id).addEventListener("click", () => { pause(); move(); });
  $("play").addEventListener("click", () => (timer === null ? play() : pause()));
  $("slider").addEventListener("input", () => { pause(); go(Number($("slider").value)); });
  const keys = { ArrowLeft: moves.back, ArrowRight: moves.next, Home: moves.first, End: moves.last };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const field = event.target.closest?.("select, textarea, input:not([type=range])");
    if (event.key === " " && !event.target.closest?.("button, summary, select, input:not([type=range])")) {
      event.preventDefault();
      timer === null ? play() : pause();
    } else if (Object.hasOwn(keys, event.key) && !field) {
      event.preventDefault();
      pause();
      keys[event.key]();
    } else if (event.key === "Escape" && selected !== null) choose(null);
  });
  const reserve = () => { for (const column of columns) column.reserve(); go(number); };
  addEventListener("resize", reserve);
  reserve();
}

start();
