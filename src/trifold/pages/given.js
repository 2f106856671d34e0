// What the page was given, and how its numbers are spelt.

const data = JSON.parse(document.getElementById("data").textContent);

const finite = (number) => typeof number === "number";
const shown = (number, digits) => number === null ? "–" : number === "inf" ? "∞" : number === "-inf" ? "−∞" : number.toFixed(digits).replace(/^-(?=[0.]+$)/, "").replace("-", "−");
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// Put a value to the others of its key.
function group(map, key, value) {
  if (!map.has(key)) map.set(key, []);
  map.get(key).push(value);
}
