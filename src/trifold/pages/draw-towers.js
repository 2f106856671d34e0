// Blocks: towers on a table, and an arm. A tower keeps its column for as long as it stands.

const BLOCK = { width: 58, height: 34, gap: 16 };

// As wide as they are where there is room, and else as narrow as their names allow.
function blockSize(scene) {
  const longest = Math.max(...objects.map(({ name }) => name.length));
  return scene.isNarrow ? { ...BLOCK, width: Math.min(BLOCK.width, Math.max(36, longest * 9 + 8)), gap: 7 } : BLOCK;
}

function drawTowers(roles, scene, trace) {
  const columns = standing(roles, trace);
  const width = 1 + Math.max(...data.traces.flatMap((told) => standing(roles, new Trace(told))).map((own) => Math.max(-1, ...own.values())));
  const height = Math.max(...[...everyState()].map((facts) => Math.max(0, ...towersOf(roles, facts).map((tower) => tower.length))));
  const own = blockSize(scene), step = own.width + own.gap, top = 74;
  const size = { width: Math.max(3, width) * step + own.gap, height: top + height * own.height + 14 };
  scene.size(size.width, size.height, 0.55);
  const floor = size.height - 14;
  scene.svg.append(draw("path", { class: "table", d: `M4 ${floor + 3}H${size.width - 4}` }));
  const arm = scene.svg.appendChild(draw("g", { class: "moving arm" },
    draw("path", { d: "M0 -42v16M-36 4v-22q0 -8 8 -8h56q8 0 8 8v22" })));
  const layer = new Layer(scene.svg);
  drawGoalTowers(roles, scene);

  return (facts, number) => {
    const held = roles.holding ? facts.of(roles.holding)[0]?.[0] : undefined;
    const towers = towersOf(roles, facts), highest = Math.max(0, ...towers.map((tower) => tower.length));
    const hand = Math.max(24, floor - (highest + 2) * own.height);
    place(arm, size.width / 2, hand + 20, own.width / BLOCK.width);
    arm.classList.toggle("unseen-part", !roles.holding);
    for (const tower of towers) {
      tower.forEach((name, level) => {
        const x = own.gap + columns[number].get(tower[0]) * step, y = floor - (level + 1) * own.height;
        place(layer.put(name, () => block(name, own)), x, y);
      });
    }
    if (held) place(layer.put(held, () => block(held, own)), size.width / 2 - own.width / 2, hand);
    layer.sweep();
  };
}

function drawGoalTowers(roles, scene) {
  const towers = towersOf(roles, goalFacts).filter((tower) => tower.length > 1 || goalFacts.has(roles.table, tower[0]));
  if (!towers.length) return;
  const own = blockSize(scene), step = own.width + own.gap, height = Math.max(...towers.map((tower) => tower.length)) * own.height;
  const picture = scene.aside("Goal", towers.length * step + own.gap, height + 24);
  towers.forEach((tower, column) => {
    const x = own.gap + column * step, stands = goalFacts.has(roles.table, tower[0]);
    tower.forEach((name, level) => place(picture.appendChild(block(name, own)), x, height + 10 - (level + 1) * own.height));
    const line = { class: stands ? "table" : "table anywhere", d: `M${x - 4} ${height + 14}h${own.width + 8}` };
    picture.append(draw("path", line, draw("title", {}, stands ? "on the table" : "on anything")));
  });
}

const block = (name, { width, height }) => draw("g", { class: "moving token", "data-object": name, hue: hueOf(numberOf.get(name)) },
  draw("rect", { width, height: height - 2, rx: 5 }), label(name, width - 8, { x: width / 2, y: height / 2 - 1, size: 15 }));

// The towers of a state, each from its lowest block up.
function towersOf(roles, facts) {
  const above = new Map(facts.of(roles.on).map(([upper, lower]) => [lower, upper]));
  const lying = new Set(facts.of(roles.on).map(([upper]) => upper));
  const lowest = [...new Set([...facts.of(roles.table).map(([name]) => name), ...[...above.keys()].filter((name) => !lying.has(name))])];
  return lowest.map((name) => {
    const tower = [name];
    while (above.has(tower.at(-1)) && tower.length <= objects.length) tower.push(above.get(tower.at(-1)));
    return tower;
  });
}

// Of each state the column of each lowest block: its own as before, or the first that is free.
function standing(roles, trace) {
  const found = [];
  let before = new Map();
  for (const facts of trace.all()) {
    const lowest = towersOf(roles, facts).map((tower) => tower[0]);
    const own = new Map(lowest.filter((name) => before.has(name)).map((name) => [name, before.get(name)]));
    const taken = new Set(own.values());
    for (const name of lowest) {
      if (own.has(name)) continue;
      let column = 0;
      while (taken.has(column)) column++;
      own.set(name, column);
      taken.add(column);
    }
    found.push(own);
    before = own;
  }
  return found;
}
