// The page of one state: its drawing, in all the room that there is.

function showState() {
  const trace = new Trace(data.traces[0]), scene = new Scene();
  document.getElementById("title").textContent = data.problem;
  document.getElementById("state").append(scene.element);
  scene.row.setAttribute("aria-label", `${data.problem}: the state, drawn`);
  const update = DRAWERS[data.drawing.kind](data.drawing, scene, trace);
  update(trace.at(trace.end), trace.end);
}

showState();
