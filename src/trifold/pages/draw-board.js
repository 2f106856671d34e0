// Places with robots and things on them: squares of a grid, or the nodes of a map. Which predicates say so is data.

function drawBoard(roles, scene) {
  const isMap = roles.kind === "map", margin = isMap ? 62 : 34;
  const all = [...roles.cells, ...(roles.sights ?? [])], longest = Math.max(...all.map((cell) => cell.name.length));
  const unit = isMap ? Math.min(116, Math.max(84, longest * 12)) : 58;
  const spots = isMap ? scene.turned(all.map((cell) => cell.at)) : all.map((cell) => cell.at);
  const pixels = new Map(all.map((cell, i) => [cell, { x: spots[i][0] * unit + margin, y: spots[i][1] * unit + margin }]));
  const width = Math.max(...spots.map(([x]) => x)) * unit + 2 * margin, height = Math.max(...spots.map(([, y]) => y)) * unit + 2 * margin;
  scene.size(width, height + (isMap ? 8 : 0), isMap ? 0.7 : 0.4);
  const at = new Map(roles.cells.map((cell) => [cell.name, { ...pixels.get(cell), cell }]));
  const sights = new Map((roles.sights ?? []).map((sight) => [sight.name, pixels.get(sight)]));
  const ground = scene.svg.appendChild(draw("g"));
  drawWays(roles, ground, at, sights, isMap);
  for (const { x, y, cell } of at.values()) ground.append(place(drawCell(cell, isMap), x, y));
  if (!isMap) drawWalls(roles, ground, at, unit);
  const marks = new Layer(scene.svg), moving = new Layer(scene.svg);
  const shapes = new Map(roles.shapes ?? []), signs = [...new Set(shapes.values())].sort();
  const sign = (name) => shapes.has(name) ? signs.indexOf(shapes.get(name)) : -1;
  const cards = roles.cards ? new Cards(roles.cards, scene) : null;

  return (facts) => {
    const here = new Map();
    const stay = (key, where, create) => {
      const name = where.join(" ");
      if (!here.has(name)) here.set(name, []);
      here.get(name).push([key, create]);
    };
    for (const [predicate, who, where] of roles.robots)
      for (const names of facts.of(predicate)) {
        const name = who === null ? null : names[who];
        stay(`robot ${name ?? ""}`, where.map((i) => names[i]), () => drawRobot(name));
      }
    for (const [predicate, who, where] of roles.things ?? [])
      for (const names of facts.of(predicate)) stay(`thing ${names[who]}`, where.map((i) => names[i]), () => drawThing(names[who], sign(names[who])));
    const locked = lockedPlaces(roles, facts);
    drawMarks(roles, facts, at, marks, isMap, sign, (key) => locked.has(key) && here.has(key));
    drawGoalMarks(roles, facts, at, marks, isMap, sign);
    const spot = standTogether(here, at, moving, locked);
    if (roles.held)
      for (const [name] of facts.of(roles.held)) if (spot) place(moving.put(`thing ${name}`, () => drawThing(name, sign(name))), spot.x + 15, spot.y - 11, 0.72);
    marks.sweep();
    moving.sweep();
    cards?.update(facts);
  };
}

function drawCell(cell, isMap) {
  const object = cell.objects.length === 1 ? cell.objects[0] : null;
  const group = draw("g", { class: "cell", "data-object": object }, draw("title", {}, cell.objects.join(", ")));
  if (isMap) group.append(draw("circle", { r: 25 }), label(cell.name, 104, { y: 37, size: 12, least: 10, kind: "label halo" }));
  else group.append(draw("rect", { x: -28, y: -28, width: 56, height: 56, rx: 3 }));
  return group;
}

// Lines between the places of a map: grey where all can go, and else one in the colour of each who can.
function drawWays(roles, ground, at, sights, isMap) {
  for (const [left, right, who] of isMap ? roles.edges : []) {
    const a = at.get(left), b = at.get(right);
    if (!a || !b) continue;
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    (who ?? [null]).forEach((name, i) => {
      const off = (i - ((who ?? [null]).length - 1) / 2) * 6, x = (-(b.y - a.y) / length) * off, y = ((b.x - a.x) / length) * off;
      ground.append(draw("path", { class: name === null ? "way" : "way own", hue: name === null ? null : hueOf(numberOf.get(name)), d: `M${a.x + x} ${a.y + y}L${b.x + x} ${b.y + y}` }, draw("title", {}, name === null ? `${left}, ${right}` : `${left}, ${right}: for ${name}`)));
    });
  }
  for (const [sight, seen] of roles.views ?? []) {
    const a = sights.get(sight), b = at.get(seen);
    if (a && b) ground.append(draw("path", { class: "view", d: `M${a.x} ${a.y}L${b.x} ${b.y}` }));
  }
  for (const [name, { x, y }] of sights)
    ground.append(place(draw("g", { "data-object": name, class: "cell" }, draw("circle", { r: 17, class: "sight-ground" }), ICONS.eye(), label(name, 92, { y: 28, size: 12, least: 10, kind: "label halo" })), x, y));
}

// In a grid, walls between neighbours that are not joined.
function drawWalls(roles, ground, at, unit) {
  const joined = new Set(roles.edges.flatMap(([left, right]) => [`${left}\n${right}`, `${right}\n${left}`]));
  const spots = new Map([...at].map(([name, { x, y }]) => [`${Math.round(x)} ${Math.round(y)}`, name]));
  for (const [name, { x, y }] of at)
    for (const [dx, dy] of [[1, 0], [0, 1]]) {
      const other = spots.get(`${Math.round(x + dx * unit)} ${Math.round(y + dy * unit)}`);
      if (other === undefined || joined.has(`${name}\n${other}`)) continue;
      const half = unit / 2;
      ground.append(draw("path", { class: "between", d: `M${x + dx * half - dy * half} ${y + dy * half - dx * half}L${x + dx * half + dy * half} ${y + dy * half + dx * half}` }));
    }
}

const lockedPlaces = (roles, facts) => new Set((roles.marks ?? []).filter(([, , look]) => look === "lock").flatMap(([predicate, where]) => facts.of(predicate).map((names) => where.map((i) => names[i]).join(" "))));

function drawMarks(roles, facts, at, layer, isMap, sign, isShared) {
  const seen = new Map();
  for (const [predicate, where, look] of roles.marks ?? [])
    for (const names of facts.of(predicate)) {
      const key = where.map((i) => names[i]).join(" "), spot = at.get(key);
      if (!spot) continue;
      const nth = seen.get(key) ?? 0;
      if (look !== "visited" && look !== "wall") seen.set(key, nth + 1);
      const element = layer.put(`${look} ${names.join(" ")}`, () => drawMark(look, names, sign, isMap));
      const around = isMap && ICONS[look] && look !== "lock" && look !== "dirt";
      if (look === "lock" && isShared(key)) place(element, spot.x - 13, spot.y - 6, 0.8);
      else place(element, spot.x + (around ? [-24, 24, 0][nth % 3] : 0), spot.y + (around ? [-20, -20, -30][nth % 3] : 0));
    }
}

function drawMark(look, names, sign, isMap) {
  if (look === "visited") return draw("g", { class: "visited" }, isMap ? draw("circle", { r: 24 }) : draw("rect", { x: -28, y: -28, width: 56, height: 56, rx: 3 }));
  if (look === "wall") return draw("g", { class: "wall" }, draw("rect", { x: -28, y: -28, width: 56, height: 56, rx: 3 }), draw("path", { d: "M-27 -9h54M-27 9h54M-9 -27v18M12 -9v18M-9 9v18" }));
  const icon = ICONS[look]();
  if (look === "dirt") icon.prepend(isMap ? draw("circle", { r: 25, class: "ground" }) : draw("rect", { x: -27, y: -27, width: 54, height: 54, rx: 3, class: "ground" }));
  if (look === "lander") icon.append(draw("title", {}, `lander ${names[0]}`));
  if (look === "lock" && sign(names[0]) >= 0) {
    icon.style.setProperty("--hue", hueOf(sign(names[0])));
    icon.append(draw("path", { class: "sign", d: SIGNS[sign(names[0]) % SIGNS.length], transform: "translate(0 6) scale(1.1)" }));
  }
  return draw("g", {}, icon, look === "soil" || look === "rock" ? draw("title", {}, `${look} sample`) : null);
}

// What the goal asks of places: a flag for a robot, a shadow for a thing, a ring for what is to be visited.
function drawGoalMarks(roles, facts, at, layer, isMap, sign) {
  for (const part of goal) {
    const { predicate, names } = part.atom;
    const robot = roles.robots.find(([name]) => name === predicate);
    const thing = (roles.things ?? []).find(([name]) => name === predicate);
    const mark = (roles.marks ?? []).find(([name, , look]) => name === predicate && look === "visited");
    const rule = robot ?? thing ?? (mark ? [mark[0], null, mark[1]] : null);
    const spot = rule && at.get(rule[2].map((i) => names[i]).join(" "));
    if (!spot || !part.positive || (isMet(part, facts) && !robot)) continue;
    const element = layer.put(`goal ${part.atom.id}`, () => mark && !robot && !thing ? draw("circle", { r: 7, class: "wanted" }) : thing && !robot ? draw("g", { class: "shadow" }, drawThing(names[rule[1]], sign(names[rule[1]]))) : ICONS.flag());
    place(element, spot.x + (robot && !isMap ? 17 : 0), spot.y - (robot && !isMap ? 9 : 0));
  }
}

// Several on one place stand beside each other, the first ones largest; beside a lock there is room for less. Returns where
// the last robot is.
function standTogether(here, at, layer, locked) {
  let robot = null;
  for (const [where, all] of here) {
    const spot = at.get(where);
    if (!spot) continue;
    const across = all.length === 1 ? 1 : all.length <= 4 ? 2 : 3, shrink = locked.has(where) ? 0.8 : 1, scale = [1, 0.72, 0.46][across - 1] * shrink, wide = (50 / across) * shrink;
    all.forEach(([key, create], i) => {
      const rows = Math.ceil(all.length / across);
      const x = spot.x + (shrink < 1 ? 13 : 0) + ((i % across) - (across - 1) / 2) * wide, y = spot.y + (Math.floor(i / across) - (rows - 1) / 2) * wide + 2;
      place(layer.put(key, create), x, y, scale).classList.toggle("crowded", all.length > 1);
      if (key.startsWith("robot")) robot = { x, y };
    });
  }
  return robot;
}

function drawRobot(name) {
  const icon = ICONS.robot();
  if (name !== null) icon.append(label(name, 46, { y: 19, size: 11, least: 9, kind: "label halo" }));
  return draw("g", { class: "moving", "data-object": name, hue: name === null ? 215 : hueOf(numberOf.get(name)) }, icon, draw("title", {}, name ?? "the robot"));
}

function drawThing(name, sign) {
  if (sign < 0) return draw("g", { class: "moving token", "data-object": name, hue: hueOf(numberOf.get(name)) }, draw("circle", { r: 15 }), label(name, 28, { size: 11 }));
  const icon = ICONS.key();
  icon.append(draw("path", { class: "sign", d: SIGNS[sign % SIGNS.length], transform: "translate(0 -6)" }), draw("title", {}, name));
  return draw("g", { class: "moving", "data-object": name, hue: hueOf(sign) }, icon);
}

// Beside a map: what each rover has, and what was sent.
class Cards {
  constructor(roles, scene) {
    this.roles = roles;
    this.list = make("div", { class: "cards" });
    scene.below.append(this.list);
  }
  update(facts) {
    const plain = (name) => name.replaceAll("_", " ");
    const parts = new Map(this.roles.parts.flatMap(([of, states]) => facts.of(of).map(([part, owner]) => [`${owner} ${part}`, { owner, part, states }])));
    const all = this.roles.of.map((owner) => ({
      name: owner,
      quiet: this.roles.own.filter((name) => facts.has(name, owner)).map((name) => plain(name.replace("equipped_for_", ""))),
      lines: [
        ...[...parts.values()].filter((own) => own.owner === owner).map(({ part, states }) => {
          const held = states.filter((state) => facts.of(state).some((names) => names[0] === part && (names.length === 1 || names[1] === owner)));
          return `${part}: ${held.map(plain).join(", ") || "not " + plain(states[0])}`;
        }),
        ...this.roles.know.flatMap((name) => facts.of(name).filter(([own]) => own === owner).map(([, ...rest]) => `${plain(name).replace("have ", "")}: ${rest.join(" ")}`)),
      ],
    }));
    const sent = this.roles.sent.flatMap((name) => facts.of(name).map((names) => `${plain(name).replace("communicated ", "")}: ${names.join(" ")}`));
    all.push({ name: "sent to the lander", quiet: [], lines: sent.length ? sent : ["nothing yet"] });
    this.list.replaceChildren(...all.map((card) => make("div", { class: "card", "data-object": numberOf.has(card.name) ? card.name : null },
      make("h4", {}, card.name), make("p", {}, card.quiet.join(", ")), make("ul", {}, ...card.lines.map((line) => make("li", {}, line))))));
  }
}
