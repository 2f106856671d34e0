// What stands beside the drawing: the actions of a state, the goal, and its atoms.

class Actions {
  constructor(trace) {
    this.trace = trace;
    this.what = trace.byScores ? "score q" : "V there";
    this.rows = make("tbody");
    this.title = make("h3");
    const head = ["", "action", this.what, "V* there"].map((text, i) => make("th", { scope: "col", class: i === 2 || i === 3 ? "number" : null }, text || make("span", { class: "unseen" }, "chosen")));
    this.scroller = make("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Applicable actions" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), this.rows));
    this.element = make("section", { class: "panel actions" }, this.title, this.scroller);
    this.known = trace.steps.some((step) => step.choices.some((choice) => choice[2] !== null));
    this.scroller.classList.toggle("no-best", !this.known);
    const most = Math.max(...trace.steps.map((step) => step.choices.length));
    this.scroller.style.minHeight = `min(340px, ${2 + 2.5 * most}rem)`;  // so that what is below stays where it is
  }
  show(number) {
    const step = this.trace.steps[number];
    this.title.textContent = step.choices.length ? counted(step.choices.length, "applicable action") : "No action is applicable";
    const told = step.choices.map((choice) => choice[1]).filter(finite);
    const low = Math.min(...told), high = Math.max(...told), better = this.trace.byScores ? 1 : -1;
    this.rows.replaceChildren(...step.choices.slice(0, 400).map(([action, score, distance, bits]) => {
      const share = finite(score) && high > low ? (better > 0 ? score - low : high - score) / (high - low) : 1;
      const bar = !finite(score) ? null : draw("svg", { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, draw("rect", { width: Math.max(2, 100 * share), height: 6 }));
      const remarks = [];
      if (bits & 4) remarks.push(make("span", { class: "tag good" }, "optimal"));
      if (bits & 1 && step.loss) remarks.push(make("span", { class: "tag bad" }, step.loss === "inf" ? "dead end" : `costs ${step.loss}`));
      if (bits & 2) remarks.push(make("span", { class: "tag" }, "visited"));
      if (bits & 1 && step.tie) remarks.push(make("span", { class: "tag" }, "tie"));
      const chosen = (bits & 1) === 1;
      return make("tr", { class: chosen ? "chosen" : null },
        make("td", {}, chosen ? make("span", { class: "arrow", title: "chosen" }, "▶", make("span", { class: "unseen" }, " chosen")) : ""),
        make("td", { class: "name" }, make("span", {}, ...worded(data.actions[action].slice(1, -1))), ...remarks),
        make("td", { class: "number" }, shown(score, 2), bar), make("td", { class: "number best" }, shown(distance, 0)));
    }));
    if (step.choices.length > 400) this.rows.append(make("tr", {}, make("td", { colspan: 4 }, `and ${step.choices.length - 400} more`)));
    const chosen = this.rows.querySelector(".chosen");
    this.scroller.scrollTop = chosen ? Math.max(0, chosen.offsetTop - this.scroller.clientHeight / 2) : 0;
  }
}

// Names beside each other: a line ends between them, or after an underscore, and within a name only if it is longer than a line.
const breakable = (text) => text.split(/(?<=_)/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
const worded = (text) => text.split(" ").flatMap((name, i) => [i ? " " : "", make("span", { class: "word" }, ...breakable(name))]);

class Goal {
  constructor() {
    this.title = make("h3");
    this.list = make("ul", { class: "goal" });
    this.element = make("section", { class: "panel" }, this.title, this.list);
    this.parts = goal.slice(0, 400).map((part) => {
      const text = part.positive ? part.atom.text : `not ${part.atom.text}`;
      const state = make("span", { class: "unseen" });
      return { part, state, element: this.list.appendChild(make("li", {}, draw("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, draw("circle", { cx: 8, cy: 8, r: 6.5 }), draw("path", { d: "M4.8 8.2l2.3 2.4 4.2-4.8" })), make("span", {}, ...worded(text), state))) };
    });
  }
  show(facts) {
    const met = goal.filter((part) => isMet(part, facts)).length;
    this.title.textContent = met === goal.length ? "Goal: reached" : `Goal: ${met} of ${goal.length} hold`;
    this.title.dataset.reached = met === goal.length;
    for (const { part, state, element } of this.parts) {
      element.classList.toggle("met", isMet(part, facts));
      state.textContent = isMet(part, facts) ? " (holds)" : " (does not hold)";
    }
  }
}

class State {
  constructor() {
    this.body = make("div", { class: "chips" });
    this.still = make("div", { class: "chips" }, ...data.static.slice(0, 2000).map((id) => make("span", { class: "chip" }, atoms[id].text)));
    this.title = make("summary", {}, "");
    this.whole = make("details", { class: "panel" }, this.title, make("p", { class: "quiet" }, "What the last step added is marked +, what it took away −."), this.body, data.static.length ? make("details", {}, make("summary", {}, `Atoms that no step changes (${data.static.length})`), this.still) : null);
    this.element = this.whole;
    this.whole.addEventListener("toggle", () => this.facts && this.show(this.facts, this.step));
  }
  show(facts, step) {
    Object.assign(this, { facts, step });
    this.title.textContent = `Atoms of this state (${facts.ids.size})`;
    if (!this.whole.open) return;
    const more = new Set(step === null ? [] : step.more), less = step === null ? [] : step.less;
    const chip = (id, kind, sign) => make("span", { class: `chip ${kind}` }, sign + atoms[id].text);
    const loose = [...facts.ids].filter((id) => !fixed.has(id)).sort((a, b) => a - b);
    this.body.replaceChildren(...loose.map((id) => more.has(id) ? chip(id, "more", "+ ") : chip(id, "", "")), ...less.map((id) => chip(id, "less", "− ")));
  }
}
