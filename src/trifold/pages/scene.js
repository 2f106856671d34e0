// Where a drawing is drawn: its picture, another beside it, and a place for text below.
//
// A picture is shown whole in the width that there is. Where that makes it smaller than it can be read, a button enlarges
// it. What is larger than its place is scrolled to where the last action was.

class Scene {
  constructor() {
    this.svg = draw("svg", { class: "picture" });
    this.row = make("div", { class: "pictures", tabindex: 0, role: "img", "aria-label": "The state, drawn" }, this.svg);
    this.button = make("button", { type: "button", class: "enlarge", "aria-pressed": "false", hidden: "" }, "Enlarge the drawing");
    this.below = make("div", { class: "below" });
    this.element = make("div", { class: "drawing" }, this.row, this.button, this.below);
    this.button.addEventListener("click", () => {
      this.button.setAttribute("aria-pressed", this.row.classList.toggle("large"));
      this.follow(this.names);
    });
    this.names = [];
    new ResizeObserver(() => this.offer()).observe(this.row);
  }
  get isNarrow() {
    return document.documentElement.clientWidth < 640;
  }
  // Points of a layout that has no up and no left, so that its longer side lies along that of the screen.
  turned(points) {
    const most = (axis) => Math.max(...points.map((point) => point[axis]));
    return this.isNarrow && most(0) > most(1) ? points.map(([x, y]) => [y, x]) : points;
  }
  // How large a picture is drawn, and the least part of that in which it can be read.
  size(width, height, least = 0.75) {
    Object.assign(this, { width, height, least });
    this.frame(this.svg, width, height, Math.min(1.9, Math.max(1.25, 430 / height)), least);
  }
  frame(svg, width, height, most, least) {
    svg.setAttribute("viewBox", `0 0 ${width.toFixed(0)} ${height.toFixed(0)}`);
    for (const [name, pixels] of [["--most", width * most], ["--least", width * least], ["--own", width], ["--tall", height * least]]) svg.style.setProperty(name, `${pixels.toFixed(0)}px`);
  }
  aside(title, width, height) {
    const svg = draw("svg", { class: "picture" });
    const whole = Math.min(1, (document.documentElement.clientWidth - 60) / this.width);  // no larger than the state is
    this.frame(svg, width, height, Math.min(0.75, whole), Math.min(0.5, whole));
    this.row.append(make("figure", { class: "aside" }, make("figcaption", {}, title), svg));
    return svg;
  }
  // Pixels of the screen for one of the picture.
  get scale() {
    const { width, height } = this.svg.getBoundingClientRect();
    return Math.min(width / this.width, height / this.height);
  }
  offer() {
    if (!this.row.classList.contains("large")) this.button.hidden = this.scale > 0.98 * this.least;
  }
  // Scroll to what an action was about, where that is not in sight.
  follow(names) {
    this.names = names;
    const { row, svg } = this;
    if (row.scrollWidth <= row.clientWidth + 1 && row.scrollHeight <= row.clientHeight + 1) return;
    const found = [...svg.querySelectorAll("[data-object]")].filter((one) => one.spot && names.includes(one.dataset.object));
    const moving = found.filter((one) => one.classList.contains("moving"));
    const spots = (moving.length ? moving : found).map((one) => one.spot);
    if (!spots.length) return;
    const frame = row.getBoundingClientRect(), picture = svg.getBoundingClientRect(), scale = this.scale;
    const middle = (axis) => spots.reduce((sum, spot) => sum + spot[axis], 0) / spots.length * scale;
    const x = picture.left - frame.left + middle(0), y = picture.top - frame.top + middle(1), room = 60;
    if (x < room || x > frame.width - room) row.scrollLeft += x - frame.width / 2;
    if (y < room || y > frame.height - room) row.scrollTop += y - frame.height / 2;
  }
}
