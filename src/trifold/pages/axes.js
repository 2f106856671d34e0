// The axes of a chart: round numbers, and where they stand.

// Round numbers between two others, about as many as asked for, and no closer than the least step.
function ticks(low, high, count, least = 1) {
  const raw = Math.max(1e-9, (high - low) / count), power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(least, [1, 2, 5, 10].find((own) => own * power >= raw * 0.999999) * power);
  const found = [];
  for (let number = Math.ceil(low / step - 1e-6); number * step <= high + 1e-9; number++) found.push(Number((number * step).toPrecision(12)));
  return found;
}

// Lines across at numbers of y, with these numbers; `frame` has left and right, and y says where a number stands.
function across(numbers, y, { left, right }, spell = String) {
  return numbers.flatMap((number) => [draw("path", { class: "grid", d: `M${left} ${y(number).toFixed(1)}H${right}` }), label(spell(number), left - 8, { x: left - 6, y: y(number), anchor: "end", size: 11.5, kind: "tick" })]);
}

// Numbers of x below them.
function below(numbers, x, height, spell = String) {
  return numbers.map((number) => label(spell(number), 48, { x: x(number), y: height, size: 11.5, kind: "tick" }));
}
