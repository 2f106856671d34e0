// A chart of points and lines over two axes, with its units, a legend that hides and shows, and a text that says it.
//
// told: { title, x, y: the names of the axes, log: whether y is logarithmic, from: where x begins, within: where y does
//         and ends, least: the least step of numbers at y, apart: whether series stand beside each other, series, note }
// series: { name, look: a number of colour and shape, line: "whole", "dashed" or none, dots: whether points are marked,
//           points: [[x, y, what a pointer is told]] }

const SHAPES = ["M0-4.4a4.4 4.4 0 1 0 .01 0z", "M-4-4h8v8h-8z", "M0-5.4l5.2 9.4h-10.4z", "M0-5.6l5 5.6-5 5.6-5-5.6z", "M0 5.4l5.2-9.4h-10.4z", "M-1.7-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z", "M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z", "M0-5.6l1.6 3.8 4 .3-3.1 2.6 1 4-3.5-2.2-3.5 2.2 1-4-3.1-2.6 4-.3z"];
const BEST = "best";

// Eight colours and eight shapes make sixty-four looks, of which neighbours differ in both.
const looked = (look) => look === BEST ? { class: "look-best", shape: "M-9-0.9h18v1.8h-18z" } : { class: `look-${look % 8}`, shape: SHAPES[(look + Math.floor(look / 8)) % 8] };

function mark(look, attributes = {}) {
  return draw("path", { class: looked(look).class, d: looked(look).shape, ...attributes });
}

function swatch(look, line) {
  const path = line ? draw("path", { class: `${looked(look).class} curve ${line}`, d: "M0 6h28" }) : null;
  return draw("svg", { viewBox: "0 0 28 12", class: "sample", "aria-hidden": "true" }, path, line ? null : mark(look, { transform: "translate(14 6)" }));
}

class Plot {
  constructor(told) {
    Object.assign(this, told);
    this.hidden = new Set();
    this.svg = draw("svg", { role: "img", "aria-label": this.summary() });
    this.legend = make("div", { class: "keys", role: "group", "aria-label": `What ${this.title} shows` }, ...this.keys());
    this.element = make("figure", { class: "panel plot" }, make("h3", {}, this.title), this.legend, this.svg, this.note ? make("p", { class: "quiet" }, this.note) : null);
    new ResizeObserver(() => this.paint()).observe(this.element);
  }
  // A button for each series.
  keys() {
    return this.series.map((one) => {
      const key = make("button", { type: "button", class: "key", "aria-pressed": "true" }, swatch(one.look, one.line), one.name);
      key.addEventListener("click", () => {
        this.hidden.has(one) ? this.hidden.delete(one) : this.hidden.add(one);
        key.setAttribute("aria-pressed", !this.hidden.has(one));
        this.paint();
      });
      return key;
    });
  }
  summary() {
    const span = (numbers) => numbers.length ? `from ${spelt(Math.min(...numbers))} to ${spelt(Math.max(...numbers))}` : "unknown";
    const parts = this.series.map((one) => `${one.name}: ${counted(one.points.length, "point")}, ${this.y} ${span(one.points.map((point) => point[1]))}`);
    return `${this.title}: ${this.y} over ${this.x}. ${parts.join("; ")}`;
  }
  // The least and the most of an axis, with some room.
  limits(values, log, least = 1) {
    if (!values.length) return log ? [0.1, 10] : [0, 1];
    const low = Math.min(...values), high = Math.max(...values);
    if (log) return high > low * 6 ? [low / 1.15, high * 1.15] : [low / 2.5, high * 2.5];
    const room = high > low ? (high - low) * 0.06 : Math.max(least, Math.abs(high) * 0.1);
    return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
  }
  // How far series stand from each other at a number of x: as far as its neighbours leave room.
  gap(values, scale, count) {
    const sorted = [...new Set(values)].sort((a, b) => a - b);
    const room = Math.min(80, ...sorted.slice(1).map((value, i) => (value - sorted[i]) * scale));
    return Math.max(2.5, Math.min(10, (0.7 * room) / Math.max(1, count)));
  }
  paint() {
    const width = Math.max(200, this.svg.clientWidth || this.element.clientWidth - 28), height = 250, left = 54, right = width - 12, top = 22, low = height - 44;
    const shownOnes = this.series.filter((one) => !this.hidden.has(one));
    const points = shownOnes.flatMap((one) => one.points).filter((point) => !this.log || point[1] > 0);
    const [xs, ys] = [this.limits([...points.map((point) => point[0]), ...(this.from === undefined ? [] : [this.from])], false), this.within ?? this.limits(points.map((point) => point[1]), this.log, this.least)];
    const scale = this.log ? Math.log10 : (value) => value;
    const beside = shownOnes.filter((one) => one.look !== BEST), gap = this.apart ? this.gap(points.map((point) => point[0]), (right - left) / (xs[1] - xs[0] || 1), beside.length) : 0;
    const aside = (gap * Math.max(0, beside.length - 1)) / 2;
    const x = (value) => left + aside + (right - left - 2 * aside) * (value - xs[0]) / (xs[1] - xs[0] || 1);
    const y = (value) => low - (low - top) * (scale(value) - scale(ys[0])) / (scale(ys[1]) - scale(ys[0]) || 1);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const rows = this.log ? decades(ys[0], ys[1]) : ticks(ys[0], ys[1], 5, this.least ?? 1);
    const columns = ticks(xs[0], xs[1], Math.max(2, Math.min(10, width / 75)));
    const parts = [...across(rows, y, { left, right }, spelt), ...below(columns, x, low + 16, spelt),
      draw("path", { class: "axis", d: `M${left} ${top - 6}V${low}H${right}` }),
      draw("text", { class: "tick axis-name", x: (left + right) / 2, y: height - 8, "text-anchor": "middle", "font-size": 12 }, this.x),
      draw("text", { class: "tick axis-name", x: 4, y: 12, "font-size": 12 }, this.y)];
    for (const one of shownOnes) {
      const shift = one.look === BEST ? 0 : gap * beside.indexOf(one) - aside;
      const shape = one.look === BEST ? `M${-aside - 9}-0.9h${2 * aside + 18}v1.8h${-2 * aside - 18}z` : looked(one.look).shape;
      const own = one.points.filter((point) => !this.log || point[1] > 0);
      if (one.line) parts.push(draw("path", { class: `${looked(one.look).class} curve ${one.line}`, d: own.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") }));
      if (one.dots || own.length === 1) for (const [a, b, tip] of own) parts.push(draw("path", { class: `${looked(one.look).class} spot ${one.line ?? ""}`, d: shape, transform: `translate(${(x(a) + shift).toFixed(1)} ${y(b).toFixed(1)})` }, draw("title", {}, tip)));
    }
    this.svg.replaceChildren(...parts);
  }
}

// Round numbers of a logarithmic axis: powers of ten, and between few of them also 2 and 5.
function decades(low, high) {
  const found = [], first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const between = last - first <= 3 ? [1, 2, 5] : [1], step = Math.max(1, Math.ceil((last - first) / 7));
  for (let power = first; power <= last; power += step) for (const digit of between) {
    const value = Number((digit * 10 ** power).toPrecision(3));
    if (value >= low && value <= high) found.push(value);
  }
  return found;
}

// A number as people write it: no more digits than tell something.
function spelt(number) {
  if (number === null || number === undefined) return "–";
  if (number !== 0 && (Math.abs(number) < 0.001 || Math.abs(number) >= 1e7)) return number.toExponential(1).replace("e", " × 10^").replace("+", "").replace("-", "−");
  return number.toLocaleString("en", { maximumSignificantDigits: Math.abs(number) >= 1000 ? 21 : 4 }).replace("-", "−");
}

// A table: the first columns hold words; a cell is a text, or elements.
function table(heads, rows, { words = 1, caption = null, header = true } = {}) {
  const kind = (i) => i < words ? "name" : "number";
  const cell = (content, i) => make(i === 0 && header ? "th" : "td", i === 0 && header ? { scope: "row", class: kind(i) } : { class: kind(i) }, ...[content].flat());
  return make("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": caption ?? "Table" }, make("table", {}, caption ? make("caption", { class: "unseen" }, caption) : null,
    make("thead", {}, make("tr", {}, ...heads.map((text, i) => make("th", { scope: "col", class: kind(i) }, text)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell))))));
}

function facts(pairs) {
  return make("dl", {}, ...pairs.flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)]));
}

function folded(title, ...children) {
  return make("details", { class: "panel" }, make("summary", {}, title), ...children);
}
