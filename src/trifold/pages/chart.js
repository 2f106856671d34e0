// V and V* along the way; where the optimal way is left; and the state that is shown. A click goes to a state.

class Chart {
  constructor(trace, limits, go) {
    Object.assign(this, { trace, limits, go });
    this.element = make("div", { class: "chart" });
    this.svg = this.element.appendChild(draw("svg", { role: "img" }));
    this.element.append(this.legend());
    this.svg.setAttribute("aria-label", this.summary());
    this.svg.addEventListener("pointerdown", (event) => { this.svg.setPointerCapture(event.pointerId); this.seek(event); });
    this.svg.addEventListener("pointermove", (event) => event.buttons && this.seek(event));
    new ResizeObserver(() => this.paint()).observe(this.element);
  }
  summary() {
    const first = this.trace.steps[0], last = this.trace.steps[this.trace.end];
    return `V and V* over the steps: V goes from ${shown(first.value, 2)} to ${shown(last.value, 2)}, V* from ${shown(first.distance, 0)} to ${shown(last.distance, 0)}`;
  }
  legend() {
    const has = (test) => this.trace.steps.some(test);
    const entries = [
      ["line-v", "V", has((step) => finite(step.value))],
      ["line-best", "V*, the shortest distance", has((step) => finite(step.distance))],
      ["mark-wrong", "not optimal", has((step) => step.loss)],
      ["mark-dead", "dead end", has((step) => step.distance === "inf")],
      ["line-largest", "largest V* in training", this.largest !== undefined],
    ];
    const swatch = (kind) => draw("svg", { viewBox: "0 0 24 12", class: "swatch-line", "aria-hidden": "true" }, kind === "mark-wrong" ? draw("path", { class: kind, d: "M8 2l8 8M16 2l-8 8" }) : kind === "mark-dead" ? draw("rect", { class: kind, width: 24, height: 12 }) : draw("path", { class: kind, d: "M0 6h24" }));
    const shownOnes = entries.filter(([, , there]) => there);
    return make("p", { class: "keys" }, ...(shownOnes.length ? shownOnes.map(([kind, text]) => make("span", {}, swatch(kind), text)) : [document.createTextNode("V is not known along this way")]));
  }
  get largest() {
    return finite(this.trace.largest) && this.limits.high > this.trace.largest ? this.trace.largest : undefined;
  }
  seek(event) {
    const ratio = (event.clientX - this.svg.getBoundingClientRect().left - this.left) / (this.width - this.left - this.right);
    this.go(Math.round(Math.min(1, Math.max(0, ratio)) * this.limits.end));
  }
  paint() {
    this.width = Math.max(200, this.element.clientWidth);
    Object.assign(this, { height: 168, left: 36, right: 14 });
    const { trace, width, height, left, right, limits } = this, top = 12, low = height - 26;
    const x = (number) => left + (width - left - right) * (limits.end ? number / limits.end : 0);
    const y = (value) => low - (low - top) * (value - limits.low) / (limits.high - limits.low || 1);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const parts = [...across(ticks(limits.low, limits.high, 4), y, { left, right: width - right }), ...below(ticks(0, limits.end, Math.max(2, Math.min(10, width / 70))), x, low + 15)];
    if (this.largest !== undefined) parts.push(draw("path", { class: "line-largest", d: `M${left} ${y(this.largest)}H${width - right}` }));
    const dead = trace.steps.findIndex((step) => step.distance === "inf");
    if (dead >= 0) parts.push(draw("rect", { class: "mark-dead", x: x(Math.max(0, dead - 0.5)), y: top, width: Math.max(2, x(trace.end) - x(Math.max(0, dead - 0.5))), height: low - top }));
    for (const [kind, name] of [["line-best", "distance"], ["line-v", "value"]]) {
      let path = "", pen = "M";
      trace.steps.forEach((step, i) => {
        if (!finite(step[name])) { pen = "M"; return; }
        path += `${pen}${x(i).toFixed(1)} ${y(step[name]).toFixed(1)}`;
        pen = "L";
      });
      parts.push(draw("path", { class: kind, d: path }));
    }
    trace.steps.forEach((step, i) => {
      const value = finite(step.distance) ? step.distance : step.value;
      if (step.loss && finite(value)) parts.push(draw("path", { class: "mark-wrong", d: `M${x(i) - 4} ${y(value) - 4}l8 8m0-8l-8 8` }, draw("title", {}, `step ${i + 1}: ${trace.action(i)} is not optimal`)));
    });
    this.cursor = draw("path", { class: "cursor", d: `M0 ${top - 6}V${low}` });
    this.dots = [draw("circle", { class: "dot best", r: 4 }), draw("circle", { class: "dot", r: 5 })];
    this.svg.replaceChildren(...parts, this.cursor, ...this.dots);
    Object.assign(this, { x, y });
    this.show(this.number ?? 0);
  }
  show(number) {
    this.number = number;
    if (!this.x) return;
    const step = this.trace.steps[number];
    place(this.cursor, this.x(number), 0);
    [step.distance, step.value].forEach((value, i) => {
      this.dots[i].classList.toggle("unseen-part", !finite(value));
      if (finite(value)) place(this.dots[i], this.x(number), this.y(value));
    });
  }
}

// One scale for all traces, so that they can be compared.
function limitsOf(traces) {
  const values = traces.flatMap((trace) => trace.steps.flatMap((step) => [step.value, step.distance])).filter(finite);
  const high = Math.max(1, ...values);
  return { low: Math.min(0, ...values), high: high * 1.05, end: Math.max(...traces.map((trace) => trace.end)) };
}
