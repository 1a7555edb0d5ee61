// The floor plan: where nodes are, and dragging them.

function canvas(id) {
  const element = at(id), scale = devicePixelRatio || 1;
  const [width, height] = [element.clientWidth, element.clientHeight];
  if (element.width !== Math.round(width * scale) || element.height !== Math.round(height * scale)) {
    [element.width, element.height] = [Math.round(width * scale), Math.round(height * scale)];
  }
  const brush = element.getContext("2d");
  brush.setTransform(scale, 0, 0, scale, 0, 0);
  brush.clearRect(0, 0, width, height);
  brush.font = "12px system-ui, sans-serif";
  return { brush, width, height };
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// From metres to pixels: all nodes with a margin, the same scale in both directions.
function view(width, height) {
  const all = places.filter(Boolean);
  const [xs, ys] = [all.map((place) => place[0]), all.map((place) => place[1])];
  const middle = (list) => (Math.min(...list) + Math.max(...list)) / 2;
  const spread = (list) => Math.max(...list) - Math.min(...list);
  const scale = Math.min((width - 90) / Math.max(spread(xs), 10), (height - 60) / Math.max(spread(ys), 10));
  const [mx, my] = all.length ? [middle(xs), middle(ys)] : [0, 0];
  return {
    to: ([x, y]) => [width / 2 + (x - mx) * scale, height / 2 - (y - my) * scale],
    from: (px, py) => [(px - width / 2) / scale + mx, (height / 2 - py) / scale + my],
  };
}

let fixed = null;                 // the view while a node is dragged

function plan() {
  const { brush, width, height } = canvas("plan");
  if (!stage) return;
  const { to } = fixed ?? view(width, height);
  const [ink, line, data] = [colour("--ink"), colour("--line"), colour("--data")];
  if (chosen !== null && places[chosen]) {
    brush.strokeStyle = line;
    brush.lineWidth = 1.5;
    for (const other of stage.nodes[chosen].listeners) {
      brush.beginPath();
      brush.moveTo(...to(places[chosen]));
      brush.lineTo(...to(places[other]));
      brush.stroke();
    }
  }
  const sending = new Map(air.filter((frame) => frame.start_s + frame.length_s >= time - 1e-9 || frame.start_s > time - 0.02 * speed())
    .map((frame) => [frame.from, frame]));
  stage.nodes.forEach((node, number) => {
    if (!places[number]) return;
    const [x, y] = to(places[number]);
    const frame = sending.get(number);
    brush.beginPath();
    if (node.access_point) brush.rect(x - 9, y - 9, 18, 18); else brush.arc(x, y, 8, 0, 2 * Math.PI);
    brush.fillStyle = frame ? (frame.kind === "data" ? data : colour("--control")) : line;
    brush.fill();
    brush.lineWidth = number === chosen ? 3 : 1;
    brush.strokeStyle = ink;
    brush.stroke();
    if (stage.nodes.length <= 16 || node.access_point || number === chosen) {
      brush.fillStyle = ink;
      brush.textAlign = "center";
      brush.fillText(node.name, x, y - 13);
    }
  });
}

function nearest(event) {
  const box = at("plan").getBoundingClientRect();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  const { to, from } = fixed ?? view(box.width, box.height);
  let best = null, least = 28;
  places.forEach((place, node) => {
    if (!place) return;
    const [x, y] = to(place);
    const distance = Math.hypot(x - px, y - py);
    if (distance < least) [best, least] = [node, distance];
  });
  return { best, place: from(px, py), box };
}

at("plan").onpointerdown = (event) => {
  const { best, box } = nearest(event);
  chosen = best;
  if (best !== null) {
    fixed = view(box.width, box.height);
    at("plan").setPointerCapture(event.pointerId);
  }
  draw();
};
let dragged = null;
at("plan").onpointermove = (event) => {
  if (!fixed || chosen === null) return;
  dragged = nearest(event).place;
  places[chosen] = dragged;
  draw();
};
at("plan").onpointerup = () => {
  if (fixed && dragged) move(chosen, dragged);
  [fixed, dragged] = [null, null];
};
// Arrows move the chosen node by a metre, Tab chooses the next.
at("plan").onkeydown = (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.key === "n") { chosen = ((chosen ?? -1) + 1) % stage.nodes.length; draw(); }
  if (!step || chosen === null || !places[chosen]) return;
  event.preventDefault();
  move(chosen, [places[chosen][0] + step[0], places[chosen][1] + step[1]]);
};

// A node of a group or of a placement has no table of its own that --set could find.
function move(node, place) {
  const { name } = stage.nodes[node];
  if (new RegExp(`^\\s*name\\s*=\\s*"${name}"`, "m").test(toml)) {
    moved[name] = place;
  } else {
    at("status").textContent = `${name} is one of several that stand together: change their place in the scenario.`;
  }
  restart();
}
