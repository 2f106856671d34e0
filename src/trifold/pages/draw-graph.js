// Any domain: objects as nodes that stay where they are, binary atoms as edges, unary ones as badges (those that never change above), the rest as chips.

const MOST_KINDS = 8;

function drawGraph(roles, scene) {
  const unit = 114, margin = 70;
  const spots = scene.turned(roles.places.map(([, x, y]) => [x, y]));
  const at = new Map(roles.places.map(([name], i) => [name, { x: spots[i][0] * unit + margin, y: spots[i][1] * unit + margin * 0.7 }]));
  const width = Math.max(...[...at.values()].map((spot) => spot.x)) + margin, height = Math.max(...[...at.values()].map((spot) => spot.y)) + margin;
  scene.size(width, height);
  const hidden = new Set(roles.dense), edges = new Layer(scene.svg), nodes = new Layer(scene.svg), texts = new Layer(scene.svg);
  const binary = [...new Set(atoms.filter((atom) => atom.names.length === 2).map((atom) => atom.predicate))].sort();
  const colour = new Map(binary.map((name, i) => [name, hueOf(i)]));
  const kindOf = kindsOfObjects(), kinds = [...new Set(objects.map(kindOf))].filter(Boolean);
  const traits = traitsOf(kindOf), chips = make("div", { class: "chips" });
  let again = () => {};
  const legend = make("div", { class: "legend" }, ...binary.map((name) => {
    const box = make("input", { type: "checkbox" });
    box.checked = !hidden.has(name);
    box.addEventListener("change", () => { box.checked ? hidden.delete(name) : hidden.add(name); again(); });
    return make("label", { hue: colour.get(name) }, box, make("span", { class: "swatch" }), name);
  }));
  if (goal.some((part) => part.positive && part.atom.names.length === 2)) legend.append(make("span", {}, draw("svg", { viewBox: "0 0 24 6", class: "swatch-asked", "aria-hidden": "true" }, draw("path", { d: "M0 3h24" })), "?: the goal asks for it"));
  if (kinds.length > 1) legend.append(...kinds.map((kind, i) => make("span", { hue: hueOf(i + 1) }, make("span", { class: `swatch-kind${i % 2 ? " square" : ""}` }), kind)));
  scene.below.append(chips, legend);

  const update = (facts) => {
    again = () => update(facts);
    const lines = new Map();
    const add = (names, text, predicate, kind) => {
      const key = [...names].sort().join("\n");
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push({ names, text, predicate, kind });
    };
    for (const id of facts.ids) {
      const atom = atoms[id];
      if (atom.names.length === 2 && !hidden.has(atom.predicate)) add(atom.names, atom.predicate, atom.predicate, changing.has(atom.predicate) ? "now" : "still");
    }
    for (const part of goal)
      if (part.atom.names.length === 2 && part.positive && !isMet(part, facts)) add(part.atom.names, `${part.atom.predicate}?`, part.atom.predicate, "asked");
    for (const all of lines.values()) drawEdges(all, at, edges, texts, colour);
    const told = new Map();
    const changed = [...facts.ids].map((id) => atoms[id]).filter((atom) => changing.has(atom.predicate));
    for (const atom of changed) if (atom.names.length === 1) group(told, atom.names[0], atom.predicate);
    for (const [name, spot] of at) {
      place(nodes.put(name, () => drawNode(name, kinds, kindOf)), spot.x, spot.y);
      if (traits.has(name)) place(texts.put(`trait ${name}`, () => draw("g", { class: "trait" }, badge(traits.get(name).join(", ")))), spot.x, spot.y - 23);
      const badges = (told.get(name) ?? []).sort();
      if (badges.length) place(texts.put(`badge ${name} ${badges.join(" ")}`, () => badge(badges.join(", "))), spot.x, spot.y + 27);
    }
    const loose = changed.filter((atom) => atom.names.length !== 1 && atom.names.length !== 2);
    chips.replaceChildren(...loose.map((atom) => make("span", { class: "chip" }, atom.text)));
    for (const layer of [edges, nodes, texts]) layer.sweep();
  };
  return update;
}

// By object, the unary predicates that never change and that tell it from others of its kind: what all have says nothing.
function traitsOf(kindOf) {
  const still = atoms.filter((atom) => atom.names.length === 1 && !changing.has(atom.predicate));
  const kindNamed = (name) => kindOf(objects[numberOf.get(name)]);
  const sizes = new Map(), counts = new Map(), found = new Map(), count = (own, key) => own.set(key, (own.get(key) ?? 0) + 1);
  for (const object of objects) count(sizes, kindOf(object));
  for (const atom of still) count(counts, `${atom.predicate} ${kindNamed(atom.names[0])}`);
  for (const { predicate, names: [name] } of still) if (counts.get(`${predicate} ${kindNamed(name)}`) < sizes.get(kindNamed(name))) group(found, name, predicate);
  return found;
}

// What kind of thing an object is: its type or, where there are no types, what always holds of it alone.
function kindsOfObjects() {
  const told = new Map();
  for (const { predicate, names } of data.static.map((id) => atoms[id])) if (names.length === 1) group(told, names[0], predicate);
  const members = (type) => objects.filter(({ types }) => types.includes(type)).length;
  const narrowest = ({ types }) => types.length ? types.reduce((best, one) => (members(one) < members(best) ? one : best)) : undefined;
  const kindOf = objects.some(({ types }) => types.length) ? narrowest : ({ name }) => told.get(name)?.join(", ");
  return new Set(objects.map(kindOf)).size <= MOST_KINDS ? kindOf : () => undefined;
}

function drawNode(name, kinds, kindOf) {
  const own = objects[numberOf.get(name)], kind = kinds.indexOf(kindOf(own));
  const wide = Math.min(96, Math.max(38, name.length * 8 + 18));
  return draw("g", { class: "token node", "data-object": name, hue: hueOf(kind + 1) }, draw("rect", { x: -wide / 2, y: -15, width: wide, height: 30, rx: kind % 2 ? 5 : 15 }), label(name, wide - 10, { size: 13 }), draw("title", {}, [name, own.types.join(", ") || kindOf(own)].filter(Boolean).join(": ")));
}

const badge = (text) => draw("g", { class: "badge" }, draw("rect", { x: -Math.min(120, text.length * 6.4 + 12) / 2, y: -8.5, width: Math.min(120, text.length * 6.4 + 12), height: 17, rx: 8.5 }), label(text, 112, { size: 11, least: 9.5 }));

// One line for the atoms of two objects, with an arrow for each direction that occurs, and their names on it.
function drawEdges(all, at, edges, texts, colour) {
  const [a, b] = all[0].names.map((name) => at.get(name));
  const key = all.map((one) => `${one.kind} ${one.text} ${one.names.join(" ")}`).join("\n");
  if (!a || !b) return;
  if (a === b) {
    place(texts.put(key, () => badge(all.map((one) => one.text).join(", "))), a.x, a.y - 26);
    return;
  }
  const kind = ["now", "asked", "still"].find((own) => all.some((one) => one.kind === own));
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, x = (b.x - a.x) / length, y = (b.y - a.y) / length;
  const reach = (ux, uy) => Math.min(24 / Math.max(0.01, Math.abs(ux)), 18 / Math.max(0.01, Math.abs(uy)));
  const r = Math.min(reach(x, y), length / 3);
  const from = [a.x + x * r, a.y + y * r], to = [b.x - x * r, b.y - y * r];
  const heads = new Set(all.map((one) => at.get(one.names[1]) === b));
  const head = ([px, py], s) => `M${px} ${py}l${-s * x * 9 - y * 4.5} ${-s * y * 9 + x * 4.5}M${px} ${py}l${-s * x * 9 + y * 4.5} ${-s * y * 9 - x * 4.5}`;
  const line = `M${from.join(" ")}L${to.join(" ")}`, tips = (heads.has(true) ? head(to, 1) : "") + (heads.has(false) ? head(from, -1) : "");
  const hue = colour.get(all.find((one) => one.kind === kind).predicate);
  edges.put(key, () => draw("g", { class: `edge ${kind}`, hue }, draw("path", { class: "line", d: line }), draw("path", { d: tips })));
  const text = [...new Set(all.filter((one) => kind === "still" || one.kind !== "still").map((one) => one.text))].join(", ");
  if (kind !== "still" || length > 70) place(texts.put(`text ${key}`, () => draw("g", { class: `edge-name ${kind}`, hue }, label(text, Math.max(60, length - 40), { size: 11.5, least: 9.5, kind: "label halo" }))), ...clearOf(a, b, at));
}

// Where the name of a line stands: in its middle, or as near to that as no other node is in the way.
function clearOf(a, b, at) {
  const spot = (part) => [a.x + (b.x - a.x) * part, a.y + (b.y - a.y) * part];
  const others = [...at.values()].filter((own) => own !== a && own !== b);
  const isClear = ([x, y]) => others.every((own) => Math.abs(own.x - x) > 44 || Math.abs(own.y - y) > 24);
  return [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78].map(spot).find(isClear) ?? spot(0.5);
}
