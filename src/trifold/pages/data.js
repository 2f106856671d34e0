// The problem of the traces, and states that are made of it by their differences.

const objects = data.objects.map(([name, types], number) => ({ name, types, number }));
const numberOf = new Map(objects.map((object) => [object.name, object.number]));
const atoms = data.atoms.map(([predicate, ...numbers], id) => {
  const names = numbers.map((number) => objects[number].name);
  const name = data.predicates[predicate];
  return { id, predicate: name, names, numbers, text: [name, ...names].join(" ") };
});
const fixed = new Set(data.static);
const changing = new Set(atoms.filter((atom) => !fixed.has(atom.id)).map((atom) => atom.predicate));
const goal = data.goal.map(([id, positive]) => ({ atom: atoms[id], positive: positive === 1 }));

// Atoms that hold together: a state, or the positive part of the goal.
class Facts {
  constructor(ids) {
    this.ids = ids;
    this.byName = new Map();
    for (const id of ids) {
      const atom = atoms[id];
      if (!this.byName.has(atom.predicate)) this.byName.set(atom.predicate, []);
      this.byName.get(atom.predicate).push(atom.names);
    }
  }
  of(predicate) {
    return this.byName.get(predicate) ?? [];
  }
  has(predicate, ...names) {
    return this.of(predicate).some((own) => own.length === names.length && own.every((name, i) => name === names[i]));
  }
}

const goalFacts = new Facts(goal.filter((part) => part.positive).map((part) => part.atom.id));
const isMet = (part, facts) => facts.ids.has(part.atom.id) === part.positive;

// A way through states: `at` gives the facts of one, by way of those between.
class Trace {
  constructor(told) {
    Object.assign(this, told);
    this.end = this.steps.length - 1;
    this.number = 0;
    this.ids = new Set(this.steps[0].more);
  }
  at(number) {
    while (this.number < number) this.change(this.steps[++this.number], "less", "more");
    while (this.number > number) this.change(this.steps[this.number--], "more", "less");
    return new Facts(new Set(this.ids));
  }
  change(step, away, to) {
    for (const id of step[away]) this.ids.delete(id);
    for (const id of step[to]) this.ids.add(id);
  }
  *all() {
    for (let number = 0; number <= this.end; number++) yield this.at(number);
  }
  chosen(number) {
    return this.steps[number].choices.find((choice) => choice[3] & 1);
  }
  action(number) {
    const chosen = this.chosen(number);
    return chosen ? data.actions[chosen[0]] : null;
  }
}

// The states of all traces: drawings beside each other have one size.
function* everyState() {
  for (const told of data.traces) yield* new Trace(told).all();
}
