// What R-GNN[t] sees around an object: the pairs of R_t that it is in, and what is composed of them.
// R_1: two objects occur together in an atom of the state or of the goal. R_t = R_{t-1} ∘ R_{t-1}.

function relate(facts, t) {
  let rows = objects.map((object) => new Set([object.number]));
  const join = (numbers) => { for (const one of numbers) for (const other of numbers) rows[one].add(other); };
  for (const id of facts.ids) join(atoms[id].numbers);
  for (const part of goal) join(part.atom.numbers);
  for (let power = 1; power < t; power++) {
    const wider = compose(rows);
    if (wider.every((row, i) => row.size === rows[i].size)) break;
    rows = wider;
  }
  return rows;
}

function compose(rows) {
  return rows.map((row) => {
    const wider = new Set();
    for (const middle of row) for (const end of rows[middle]) wider.add(end);
    return wider;
  });
}

class Around {
  constructor(trace, select) {
    Object.assign(this, { trace, select });
    this.t = trace.pairs === "inf" ? "inf" : finite(trace.pairs) && trace.pairs > 0 ? trace.pairs : 1;
    const own = [...new Set([1, 2, 3, this.t, "inf"])].filter((t) => t === "inf" || finite(t));
    this.chooser = make("select", { "aria-label": "Object to look at" }, make("option", { value: "" }, "choose an object"), ...objects.map(({ name }) => make("option", { value: name }, name)));
    this.chooser.addEventListener("change", () => select(this.chooser.value || null));
    this.power = make("select", { "aria-label": "t of R-GNN[t]" }, ...own.map((t) => make("option", { value: t }, t === "inf" ? "∞" : String(t))));
    this.power.value = String(this.t);
    this.power.addEventListener("change", () => { this.t = this.power.value === "inf" ? "inf" : Number(this.power.value); this.show(this.facts, this.name); });
    this.body = make("div", { class: "around" });
    const note = trace.pairs === null ? `${trace.architecture === null ? "An" : `The model is ${trace.architecture}; an`} R-GNN[t] would see this.` : trace.pairs === 0 ? "The model is R-GNN[0], which composes nothing; with a larger t it would see this." : null;
    this.element = make("section", { class: "panel" }, make("h3", {}, "Around an object"), make("p", { class: "choose" }, this.chooser, make("label", {}, "t = ", this.power)), note && make("p", { class: "quiet" }, note), this.body);
  }
  show(facts, name) {
    Object.assign(this, { facts, name });
    this.chooser.value = name ?? "";
    if (name === null || !facts) {
      this.body.replaceChildren(make("p", { class: "quiet" }, "Select an object here, or click on one in the drawing: this shows which pairs ⟨o, o′⟩ of objects R-GNN[t] keeps for it, and which of them it composes."));
      return;
    }
    const number = numberOf.get(name), t = this.t === "inf" ? Infinity : this.t;
    const rows = relate(facts, t), own = rows[number], live = compose(rows)[number];
    const compositions = [...own].reduce((sum, middle) => sum + rows[middle].size, 0);
    const near = [...own].filter((other) => other !== number), far = [...live].filter((other) => !own.has(other));
    const sign = this.t === "inf" ? "∞" : this.t;
    const bold = (text) => make("strong", {}, text);
    this.body.replaceChildren(
      make("p", { class: "sum", "data-pairs": own.size, "data-live": live.size, "data-compositions": compositions },
        bold(name), " is in ", bold(`${counted(own.size, "pair")} of R`), make("sub", {}, String(sign)), ", itself included, and so in ", bold(counted(compositions, "composition")),
        ` ⟨${name}, o′⟩ ∘ ⟨o′, o″⟩, which give it ${counted(live.size, "pair")} with an embedding` + (far.length ? `, ${far.length.toLocaleString("en")} of them with objects that it is not related to.` : ".")),
      this.picture(number, near, far, rows),
      this.list("Related by R" + (this.t === 1 ? "₁: they share an atom" : `, t = ${sign}`), near, number),
      this.list("Reached by a composition alone", far, null),
    );
  }
  list(title, some, number) {
    if (!some.length) return "";
    const chip = (other) => {
      const shared = number === null ? [] : this.shared(number, other);
      const button = make("button", { type: "button", class: "chip", title: shared.join("\n") }, objects[other].name);
      button.addEventListener("click", () => this.select(objects[other].name));
      return button;
    };
    return make("details", { open: some.length <= 24 ? "" : null }, make("summary", {}, `${title} (${some.length})`), make("div", { class: "chips" }, ...some.slice(0, 300).map(chip), some.length > 300 ? make("span", { class: "quiet" }, ` and ${some.length - 300} more`) : null));
  }
  shared(one, other) {
    const both = (atom) => atom.numbers.includes(one) && atom.numbers.includes(other);
    return [...[...this.facts.ids].map((id) => atoms[id]).filter(both).map((atom) => `(${atom.text})`), ...goal.filter((part) => both(part.atom)).map((part) => `goal: (${part.atom.text})`)];
  }
  // The object in the middle, those it is related to around it, and beyond them those that a composition reaches.
  picture(number, near, far, rows) {
    const inner = near.slice(0, 28), outer = far.slice(0, 36), crowd = inner.length + outer.length;
    const size = crowd <= 8 ? 270 : crowd <= 16 ? 310 : 370, middle = size / 2;
    const spots = new Map([[number, [middle, middle]]]);
    const ring = (some, radius, turn) => some.forEach((other, i) => {
      const angle = turn + (2 * Math.PI * i) / some.length;
      spots.set(other, [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle) * 0.86]);
    });
    ring(inner, (outer.length ? 0.27 : 0.38) * size, -Math.PI / 2);
    const angleOf = (other) => Math.min(...inner.map((own, i) => rows[own].has(other) ? i : Infinity));
    ring(outer.sort((a, b) => angleOf(a) - angleOf(b)), 0.44 * size, -Math.PI / 2 + Math.PI / (outer.length + 0.5));
    const lines = [], line = (a, b, kind) => lines.push(draw("path", { class: kind, d: `M${spots.get(a).join(" ")}L${spots.get(b).join(" ")}` }));
    for (const other of outer) line(number, other, "pair-made");
    for (const one of inner) for (const other of rows[one]) if (spots.has(other) && other !== number && (other > one || !inner.includes(other))) line(one, other, "pair-second");
    for (const other of inner) line(number, other, "pair-first");
    const node = (other, kind) => draw("g", { class: `spot ${kind}`, "data-object": objects[other].name, transform: `translate(${spots.get(other).join(" ")})` }, draw("circle", { r: kind === "self" ? 9 : 6 }), crowd <= 44 ? label(objects[other].name, 74, { y: kind === "self" ? -16 : 14, size: 11.5, least: 9.5, kind: "label halo" }) : draw("title", {}, objects[other].name));
    const cut = near.length > inner.length || far.length > outer.length ? make("p", { class: "quiet" }, "Not all are drawn.") : null;
    return make("figure", { class: "ego" },
      draw("svg", { viewBox: `-30 ${0.04 * size} ${size + 60} ${0.92 * size}`, role: "img", "aria-label": `${objects[number].name}, ${counted(near.length, "object")} related to it, and ${far.length} reached by compositions` }, ...lines, ...outer.map((other) => node(other, "far")), ...inner.map((other) => node(other, "near")), node(number, "self")),
      make("figcaption", {}, make("span", { class: "swatch-first" }), "pairs ⟨o, o′⟩ of R ", make("span", { class: "swatch-second" }), "⟨o′, o″⟩ ", outer.length ? make("span", { class: "swatch-made" }) : null, outer.length ? "⟨o, o″⟩, made by composition" : null), cut);
  }
}
