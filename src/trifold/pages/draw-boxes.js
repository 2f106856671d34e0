// What is in what: cities with vehicles and packages, rooms with balls and grippers, floors with a lift.

const token = (name, { width = 34, height = 24, round = 4, kind = "token" } = {}) =>
  draw("g", { class: `moving ${kind}`, "data-object": name, hue: hueOf(numberOf.get(name)) },
    draw("rect", { width, height, rx: round }), label(name, width - 5, { x: width / 2, y: height / 2, size: 12 }), draw("title", {}, name));

function drawCities(roles, scene) {
  const vehicles = new Map(roles.vehicles);
  const wanted = new Map();
  for (const part of goal) if (part.positive && part.atom.predicate === roles.at && !vehicles.has(part.atom.names[0])) group(wanted, part.atom.names[1], part.atom.names[0]);
  const box = 148, gap = 10, across = 3, line = 28;
  const contents = (facts) => {
    const loose = new Map(), parked = new Map(), loaded = new Map();
    for (const [thing, where] of facts.of(roles.at)) group(vehicles.has(thing) ? parked : loose, where, thing);
    for (const [thing, vehicle] of facts.of(roles.in)) group(loaded, vehicle, thing);
    return { loose, parked, loaded };
  };
  const rows = (number) => Math.ceil(number / across);
  const vehicleHeight = (loaded) => 20 + Math.max(1, rows(loaded)) * line;
  const inside = (found, where) => {
    const coming = (wanted.get(where) ?? []).filter((name) => !(found.loose.get(where) ?? []).includes(name));
    const parked = found.parked.get(where) ?? [];
    return 30 + rows((found.loose.get(where) ?? []).length + coming.length) * line + parked.reduce((sum, own) => sum + vehicleHeight((found.loaded.get(own) ?? []).length) + 16, 0) + 8;
  };
  const heights = new Map();
  for (const facts of everyState()) {
    const found = contents(facts);
    for (const { places } of roles.groups) for (const where of places) heights.set(where, Math.max(heights.get(where) ?? 76, inside(found, where)));
  }
  const tries = roles.groups.map((_, i) => layCities(roles.groups, heights, box, gap, i + 1));
  const { spots, width, height } = tries.reduce((best, one) => (fit(one, scene.isNarrow) < fit(best, scene.isNarrow) ? one : best));
  scene.size(width, height);
  const ground = scene.svg.appendChild(draw("g"));
  for (const city of spots.cities) {
    ground.append(place(draw("g", { class: "city", "data-object": city.name }, draw("rect", { width: city.width, height: city.height, rx: 10 }), label(city.name, city.width - 20, { x: 12, y: 14, anchor: "start", kind: "label small" })), city.x, city.y));
  }
  for (const [name, own] of spots.places) {
    ground.append(place(draw("g", { class: roles.hubs.includes(name) ? "box hub" : "box", "data-object": name }, draw("rect", { width: box, height: own.height, rx: 6 }),
      label(name, box - (roles.hubs.includes(name) ? 64 : 20), { x: 10, y: 14, anchor: "start", kind: "label" }),
      roles.hubs.includes(name) ? label("airport", 60, { x: box - 8, y: 14, size: 10.5, anchor: "end", kind: "label small" }) : null), own.x, own.y));
  }
  const carriers = new Layer(scene.svg), shadows = new Layer(scene.svg), cargo = new Layer(scene.svg);

  return (facts) => {
    const found = contents(facts);
    for (const [where, own] of spots.places) {
      const loose = found.loose.get(where) ?? [];
      const coming = (wanted.get(where) ?? []).filter((name) => !loose.includes(name));
      loose.forEach((name, i) => {
        const element = place(cargo.put(name, () => token(name, {})), own.x + 9 + (i % across) * 42, own.y + 28 + Math.floor(i / across) * line);
        element.classList.toggle("arrived", (wanted.get(where) ?? []).includes(name));
      });
      coming.forEach((name, j) => {
        const i = loose.length + j;
        place(shadows.put(`${name} ${where}`, () => token(name, { kind: "ghost" })), own.x + 9 + (i % across) * 42, own.y + 28 + Math.floor(i / across) * line);
      });
      let y = own.y + 32 + rows(loose.length + coming.length) * line;
      for (const vehicle of found.parked.get(where) ?? []) {
        const load = found.loaded.get(vehicle) ?? [], tall = vehicleHeight(load.length);
        const size = `${vehicle} ${tall}`;
        const carrier = carriers.put(size, () => draw("g", { class: "moving", "data-object": vehicle, hue: hueOf(numberOf.get(vehicle)) },
          vehicles.get(vehicle) === "plane" ? ICONS.plane(126, tall) : ICONS.truck(130, tall), label(vehicle, 90, { x: 9, y: 10, size: 11.5, anchor: "start", kind: "label" })));
        place(carrier, own.x + 10, y);
        load.forEach((name, i) => {
          const element = place(cargo.put(name, () => token(name, {})), own.x + 15 + (i % across) * 36, y + 19 + Math.floor(i / across) * line);
          element.classList.remove("arrived");
        });
        y += tall + 16;
      }
    }
    for (const layer of [carriers, shadows, cargo]) layer.sweep();
  };
}

// How far from the shape of a screen a picture is.
const fit = ({ width, height }, isNarrow) => isNarrow ? Math.abs(Math.log(width / 480)) : Math.abs(Math.log(width / height / 1.5)) + Math.max(0, width - 1100) / 400;

// Cities beside each other, so many in a row, their places in rows of at most four.
function layCities(groups, heights, box, gap, most) {
  const spots = { cities: [], places: new Map() };
  let x = gap, y = gap, tallest = 0, width = 0;
  for (const [nth, { name, places }] of groups.entries()) {
    const columns = Math.min(places.length, 4);
    const wide = columns * (box + gap) + gap;
    if (nth && nth % most === 0) [x, y, tallest] = [gap, y + tallest + gap, 0];
    let down = y + 26, row = 0;
    places.forEach((where, i) => {
      if (i && i % columns === 0) [down, row] = [down + row + gap, 0];
      spots.places.set(where, { x: x + gap + (i % columns) * (box + gap), y: down, height: heights.get(where) });
      row = Math.max(row, heights.get(where));
    });
    spots.cities.push({ name, x, y, width: wide, height: down + row + gap - y });
    tallest = Math.max(tallest, down + row + gap - y);
    x += wide + gap;
    width = Math.max(width, x);
  }
  return { spots, width, height: y + tallest + gap };
}

function drawRooms(roles, scene) {
  const balls = [...new Set([...atoms.filter((atom) => atom.predicate === roles.at || atom.predicate === roles.carry).map((atom) => atom.names[0])])];
  balls.sort((a, b) => numberOf.get(a) - numberOf.get(b));
  const columns = Math.max(3, Math.ceil(Math.sqrt(balls.length * 1.4))), size = 46, gap = 26;
  const wide = columns * size + 24, ballRows = Math.ceil(balls.length / columns), tall = 34 + ballRows * size + 92;
  const slot = new Map(balls.map((name, i) => [name, i]));
  const beside = scene.isNarrow && wide > 180 ? 1 : roles.rooms.length;
  const spots = new Map(roles.rooms.map((name, i) => [name, { x: gap / 2 + (i % beside) * (wide + gap), y: 8 + Math.floor(i / beside) * (tall + gap) }]));
  scene.size(beside * (wide + gap), Math.ceil(roles.rooms.length / beside) * (tall + gap) - gap + 16);
  for (const [name, { x, y }] of spots) scene.svg.append(place(draw("g", { class: "box", "data-object": name }, draw("rect", { width: wide, height: tall, rx: 8 }), label(name, wide - 20, { x: 12, y: 17, anchor: "start", size: 14 })), x, y));
  const shadows = new Layer(scene.svg), robots = new Layer(scene.svg), moving = new Layer(scene.svg);
  const ball = (name, kind) => draw("g", { class: `moving ${kind}`, "data-object": name, hue: hueOf(numberOf.get(name)) }, draw("circle", { r: 19 }), label(name, 34, { size: 12 }), draw("title", {}, name));
  const home = (name, where) => {
    const { x, y } = spots.get(where), i = slot.get(name);
    return [x + 12 + (i % columns) * size + size / 2, y + 34 + Math.floor(i / columns) * size + size / 2];
  };

  return (facts) => {
    for (const part of goal) {
      const [name, where] = part.atom.names;
      if (part.atom.predicate === roles.at && part.positive && !isMet(part, facts)) place(shadows.put(`${name} ${where}`, () => ball(name, "ghost")), ...home(name, where));
    }
    for (const [name, where] of facts.of(roles.at)) place(moving.put(name, () => ball(name, "token")), ...home(name, where)).classList.toggle("arrived", goalFacts.has(roles.at, name, where));
    const where = facts.of(roles.robot)[0]?.[0];
    if (where !== undefined) {
      const { x, y } = spots.get(where), middle = x + wide / 2, base = y + tall - 26;
      const reach = (i) => middle + (i - (roles.grippers.length - 1) / 2) * 96;
      place(robots.put("robot", () => draw("g", { class: "moving", hue: 215 }, ICONS.robot(), draw("title", {}, "the robot"))), middle, base + 2, 1.1);
      roles.grippers.forEach((name, i) => {
        place(robots.put(name, () => draw("g", { class: "moving gripper", "data-object": name }, draw("path", { d: "M-22 -10v6a22 22 0 0 0 44 0v-6" }), label(name, 60, { y: 28, size: 11.5, kind: "label" }))), reach(i), base - 12);
        const held = facts.of(roles.carry).find(([, own]) => own === name);
        if (held) place(moving.put(held[0], () => ball(held[0], "token")), reach(i), base - 16).classList.remove("arrived");
      });
    }
    for (const layer of [shadows, robots, moving]) layer.sweep();
  };
}

function drawLift(roles, scene) {
  const floors = roles.floors, from = new Map(roles.from), to = new Map(roles.to);
  const tall = floors.length > 24 ? 32 : 42, size = 30, step = 36;
  const most = { wait: 1, ride: 1, come: 1 };
  const where = (facts) => {
    const waiting = new Map(), riding = [], arrived = new Map();
    for (const [name, floor] of from) {
      if (facts.has(roles.served, name)) group(arrived, to.get(name), name);
      else if (facts.has(roles.boarded, name)) riding.push(name);
      else group(waiting, floor, name);
    }
    return { waiting, riding, arrived };
  };
  const coming = new Map();
  for (const [name, floor] of to) group(coming, floor, name);
  const longest = (map) => Math.max(0, ...[...map.values()].map((all) => all.length));
  for (const facts of everyState()) {
    const found = where(facts);
    most.wait = Math.max(most.wait, longest(found.waiting));
    most.ride = Math.max(most.ride, found.riding.length);
  }
  most.come = Math.max(1, longest(coming));
  const car = Math.max(56, most.ride * step + 12), left = 50 + most.wait * 74, right = left + car + 26;
  const width = right + most.come * step + 16, top = 26, height = top + floors.length * tall + 8;
  scene.size(width, height);
  const y = new Map(floors.map((name, i) => [name, top + (floors.length - 1 - i) * tall]));
  const ground = scene.svg.appendChild(draw("g"));
  ground.append(draw("rect", { class: "shaft", x: left + 4, y: top, width: car + 8, height: floors.length * tall, rx: 4 }));
  ground.append(label("waiting", 80, { x: 50, y: 12, anchor: "start", kind: "label small" }), label("lift", 50, { x: left + 8 + car / 2, y: 12, kind: "label small" }), label("arrived", 80, { x: right, y: 12, anchor: "start", kind: "label small" }));
  for (const name of floors) {
    ground.append(draw("path", { class: "floor", d: `M6 ${y.get(name) + tall}H${left + 2}M${left + car + 14} ${y.get(name) + tall}H${width - 6}` }));
    ground.append(draw("g", { "data-object": name, class: "cell" }, draw("rect", { x: 4, y: y.get(name) + 2, width: 38, height: tall - 4, fill: "transparent", class: "plain" }), label(name, 38, { x: 8, y: y.get(name) + tall / 2, anchor: "start" })));
  }
  const cars = new Layer(scene.svg), shadows = new Layer(scene.svg), people = new Layer(scene.svg);
  const passenger = (name, kind) => token(name, { width: size, height: size - 4, round: 13, kind });

  return (facts) => {
    const found = where(facts), down = (tall - size + 4) / 2;
    const at = facts.of(roles.at)[0]?.[0];
    if (at !== undefined) place(cars.put("car", () => draw("g", { class: "moving car" }, draw("rect", { width: car, height: tall - 4, rx: 5 }), draw("title", {}, "the lift"))), left + 8, y.get(at) + 2);
    for (const [floor, names] of found.waiting)
      names.forEach((name, i) => {
        place(people.put(name, () => passenger(name, "token")), 50 + i * 74, y.get(floor) + down).classList.remove("arrived");
        place(shadows.put(`to ${name}`, () => label(`→ ${to.get(name)}`, 40, { anchor: "start", size: 11.5, kind: "label small" })), 50 + i * 74 + size + 4, y.get(floor) + tall / 2);
      });
    found.riding.forEach((name, i) => at !== undefined && place(people.put(name, () => passenger(name, "token")), left + 8 + 8 + i * step, y.get(at) + down).classList.remove("arrived"));
    for (const [floor, names] of coming)
      names.forEach((name, i) => {
        const spot = [right + i * step, y.get(floor) + down];
        if (facts.has(roles.served, name)) place(people.put(name, () => passenger(name, "token")), ...spot).classList.add("arrived");
        else place(shadows.put(`for ${name}`, () => passenger(name, "ghost")), ...spot);
      });
    for (const layer of [cars, shadows, people]) layer.sweep();
  };
}
