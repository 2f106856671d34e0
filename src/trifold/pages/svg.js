// Elements: made by name, with their attributes; text goes in as text, so that no name can be markup.

function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "hue") element.style.setProperty("--hue", value);
    else element.setAttribute(name, value);
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

function place(element, x, y, scale = 1) {
  element.spot = [x, y];
  element.style.transform = `translate(${x}px, ${y}px)` + (scale === 1 ? "" : ` scale(${scale})`);
  return element;
}

// A text without its middle, so that it has so many letters: names differ at their ends.
function shortened(text, most) {
  const left = Math.max(1, most - 1), tail = Math.floor(left / 2);
  return text.slice(0, left - tail) + "…" + text.slice(text.length - tail);
}

// A text that keeps to a width: smaller first, then shortened, and whole in its tooltip.
function label(text, width, { size = 13, least = 9, y = 0, x = 0, anchor = "middle", kind = "label" } = {}) {
  const letter = 0.58;
  const fitting = Math.max(least, Math.min(size, width / (letter * Math.max(1, text.length))));
  const most = Math.max(1, Math.floor(width / (letter * fitting)));
  const shown = text.length <= most ? text : shortened(text, most);
  const element = draw("text", { class: kind, x, y, "text-anchor": anchor, "font-size": fitting.toFixed(1), dy: "0.35em" }, shown);
  if (shown !== text) element.append(draw("title", {}, text));
  return element;
}

// A group whose children have keys: what stays moves, what is new appears, and what was not asked for again goes.
class Layer {
  constructor(parent) {
    this.group = parent.appendChild(draw("g"));
    this.known = new Map();
    this.used = new Set();
  }
  put(key, create) {
    let element = this.known.get(key);
    if (!element) {
      element = this.group.appendChild(create());
      this.known.set(key, element);
    }
    this.used.add(key);
    return element;
  }
  sweep() {
    for (const [key, element] of this.known) {
      if (!this.used.has(key)) {
        element.remove();
        this.known.delete(key);
      }
    }
    this.used.clear();
  }
}

// A colour of its own for each of many things: golden angles lie far from each other.
const hueOf = (number) => Math.round(number * 137.508 + 205) % 360;

const ICONS = {
  robot: () => draw("g", { class: "robot" },
    draw("path", { d: "M0 -19v6", class: "wire" }), draw("circle", { cx: 0, cy: -20, r: 2.5, class: "lamp" }),
    draw("rect", { x: -14, y: -13, width: 28, height: 25, rx: 7, class: "body" }),
    draw("circle", { cx: -5.5, cy: -3, r: 3, class: "eye" }), draw("circle", { cx: 5.5, cy: -3, r: 3, class: "eye" }),
    draw("path", { d: "M-5 5.5h10", class: "mouth" })),
  flag: () => draw("g", { class: "flag" }, draw("path", { d: "M-7 14v-28", class: "pole" }), draw("path", { d: "M-7 -14l17 6-17 7z" })),
  dirt: () => draw("g", { class: "dirt" }, ...[[-7, 3, 4], [1, -5, 3], [7, 4, 4.5], [-1, 6, 2.5], [9, -5, 2]].map(([cx, cy, r]) => draw("circle", { cx, cy, r }))),
  soil: () => draw("g", { class: "soil" }, draw("path", { d: "M-9 6q2-12 9-12t9 12z" })),
  rock: () => draw("g", { class: "rock" }, draw("path", { d: "M-9 6l2-9 6-4 7 3 3 10z" })),
  lander: () => draw("g", { class: "lander" }, draw("path", { d: "M-10 8l3-7h14l3 7M-7 1a7 8 0 0 1 14 0z" })),
  eye: () => draw("g", { class: "sight" }, draw("path", { d: "M-12 0q12-13 24 0q-12 13-24 0z" }), draw("circle", { r: 4 })),
  lock: () => draw("g", { class: "lock" }, draw("path", { d: "M-8 -3v-4a8 8 0 0 1 16 0v4", class: "bow" }), draw("rect", { x: -12, y: -4, width: 24, height: 19, rx: 3 })),
  key: () => draw("g", { class: "key" }, draw("path", { d: "M0 2v13M0 9h5M0 14h5", class: "shaft" }), draw("circle", { cy: -6, r: 9 })),
  truck: (w, h) => draw("g", { class: "vehicle" }, draw("rect", { x: 0, y: 0, width: w - 15, height: h, rx: 3 }),
    draw("path", { d: `M${w - 14} ${h}v-${h - 7}h8l6 8v${h - 15}z` }),
    draw("circle", { cx: 12, cy: h, r: 5, class: "wheel" }), draw("circle", { cx: w - 10, cy: h, r: 5, class: "wheel" })),
  plane: (w, h) => draw("g", { class: "vehicle plane" },
    draw("path", { d: `M6 0h${w - 22}q16 1 16 ${h / 2}t-16 ${h / 2}h-${w - 22}q-6 0-6-6v-${h - 12}q0-6 6-6z` }),
    draw("path", { d: `M0 8l-5-14h9l9 8z` }), draw("path", { d: `M${w * 0.38} ${h}l-8 9h10l12-9z` })),
};

// Small signs by which a key and its lock are told apart without colours.
const SIGNS = ["M0 -4a4 4 0 1 0 .01 0z", "M-4 -4h8v8h-8z", "M0 -5l5 9h-10z", "M0 -5l5 5-5 5-5-5z", "M-4.5 -1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z", "M-5 -3h10l-5 8z", "M-5 -2h10v4h-10z", "M-2 -5h4v10h-4z"];
