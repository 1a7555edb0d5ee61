// The floor plan: where nodes are, and dragging them.

// Sizes of the canvases: to ask for one in every picture would lay out the page each time.
const sizes = new Map();
const watched = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) sizes.set(target.id, [contentRect.width, contentRect.height]);
  if (stage && !playing) draw();
});
for (const id of ["plan", "air", "queues"]) watched.observe(at(id));

function canvas(id) {
  const element = at(id), scale = devicePixelRatio || 1;
  const [width, height] = sizes.get(id) ?? [element.clientWidth, element.clientHeight];
  if (element.width !== Math.round(width * scale) || element.height !== Math.round(height * scale)) {
    [element.width, element.height] = [Math.round(width * scale), Math.round(height * scale)];
  }
  const brush = element.getContext("2d");
  brush.setTransform(scale, 0, 0, scale, 0, 0);
  brush.clearRect(0, 0, width, height);
  brush.font = FONT;
  return { brush, width, height };
}

const FONT = `${innerWidth < 2000 ? 12 : 17}px system-ui, sans-serif`;

// Colours of the style sheet; read again when the reader's scheme changes. Where a policy refuses the sheet, others.
let palette = new Map();
const PLAIN = { "--shade": "11 111 184", "--data": "#0b6fb8", "--lost": "#d1610a", "--paper": "#fff" };
function colour(name) {
  const styled = () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  if (!palette.has(name)) palette.set(name, styled() || (PLAIN[name] ?? "#777"));
  return palette.get(name);
}

// From metres to pixels: all nodes with a margin, the same scale in both directions.
function view(width, height) {
  const all = places.filter(Boolean);
  const [xs, ys] = [all.map((place) => place[0]), all.map((place) => place[1])];
  const middle = (list) => (Math.min(...list) + Math.max(...list)) / 2;
  const spread = (list) => Math.max(...list) - Math.min(...list);
  const scale = Math.min((width - 90) / Math.max(spread(xs), 10), (height - 60) / Math.max(spread(ys), 10));
  const [mx, my] = all.length ? [middle(xs), middle(ys)] : [0, 0];
  return {
    scale,
    to: ([x, y]) => [width / 2 + (x - mx) * scale, height / 2 - (y - my) * scale],
    from: (px, py) => [(px - width / 2) / scale + mx, (height / 2 - py) / scale + my],
  };
}

let fixed = null;                 // the view while a node is dragged

// How strongly a node is heard, from its place outwards; rings where frames can no longer be decoded, and sensed.
function shade(brush, { to, scale }, node) {
  const { decoded_m, sensed_m, power_dbm } = stage.reach;
  const [x, y] = to(places[node]);
  const edge = sensed_m * scale;
  if (!(edge > 0)) return;
  const light = brush.createRadialGradient(x, y, 0, x, y, edge);
  const tint = (share) => `rgb(${colour("--shade")} / ${(0.42 * share).toFixed(3)})`;
  if (power_dbm.length) {
    const [first, last] = [power_dbm[0][1], power_dbm.at(-1)[1]];
    for (const [metres, dbm] of power_dbm) light.addColorStop(metres / sensed_m, tint(0.08 + 0.92 * (dbm - last) / Math.max(first - last, 1)));
  } else {
    const border = Math.min(decoded_m / sensed_m, 1);
    for (const [place, share] of [[0, 0.5], [border, 0.5], [border, 0.2], [1, 0.2]]) light.addColorStop(place, tint(share));
  }
  brush.fillStyle = light;
  brush.beginPath();
  brush.arc(x, y, edge, 0, 2 * Math.PI);
  brush.fill();
  brush.strokeStyle = colour("--control");
  brush.lineWidth = 1;
  for (const [metres, dashes] of [[decoded_m, []], [sensed_m, [4, 4]]]) {
    brush.setLineDash(dashes);
    brush.beginPath();
    brush.arc(x, y, metres * scale, 0, 2 * Math.PI);
    brush.stroke();
  }
  brush.setLineDash([]);
}

function plan() {
  const { brush, width, height } = canvas("plan");
  if (!stage) return;
  const sight = fixed ?? view(width, height);
  const { to } = sight;
  const [ink, line, data] = [colour("--ink"), colour("--line"), colour("--data")];
  // The last frame of each node that sends now, or has just sent; no frame is longer than a tenth of a second.
  const sending = new Map(), just = time - 0.02 * speed();
  for (let index = air.length - 1; index >= 0 && air[index].start_s > Math.min(just, time - 0.1); index -= 1) {
    const frame = air[index];
    const is_new = !sending.has(frame.from) && (frame.start_s > just || frame.start_s + frame.length_s >= time - 1e-9);
    if (is_new) sending.set(frame.from, frame);
  }
  const bright = chosen ?? sending.keys().next().value;
  if (bright !== undefined && places[bright]) shade(brush, sight, bright);
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
  const here = new Map();
  stage.nodes.forEach((node, number) => {
    if (!places[number]) return;
    const [x, y] = to(places[number]);
    const spot = `${Math.round(x)} ${Math.round(y)}`;
    here.set(spot, (here.get(spot) ?? 0) + 1);
    const frame = sending.get(number);
    brush.beginPath();
    if (node.access_point) brush.rect(x - 9, y - 9, 18, 18); else brush.arc(x, y, 8, 0, 2 * Math.PI);
    brush.fillStyle = frame ? (frame.kind === "data" ? data : colour("--control")) : line;
    // Of several in one place the one that sends is seen.
    if (frame || here.get(spot) === 1) brush.fill();
    brush.lineWidth = number === chosen ? 3 : 1;
    brush.strokeStyle = ink;
    brush.stroke();
  });
  const few = here.size <= 16;
  brush.fillStyle = ink;
  brush.textAlign = "center";
  stage.nodes.forEach((node, number) => {
    if (!places[number]) return;
    const [x, y] = to(places[number]);
    const spot = `${Math.round(x)} ${Math.round(y)}`;
    const many = here.get(spot);
    here.delete(spot);
    if (many > 1) brush.fillText(`${number === chosen || !node.name.endsWith("1") ? node.name : node.name.slice(0, -1)} (${many})`, x, y - 13);
    else if (many && (few || node.access_point || number === chosen)) brush.fillText(node.name, x, y - 13);
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
at("plan").onpointercancel = () => { [fixed, dragged] = [null, null]; };
// Arrows move the chosen node by a metre, `n` chooses the next.
at("plan").onkeydown = (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.key === "n" && stage) {
    chosen = ((chosen ?? -1) + 1) % stage.nodes.length;
    at("plan").setAttribute("aria-label", `Floor plan; chosen: ${stage.nodes[chosen].name}`);
    draw();
  }
  if (!step || chosen === null || !places[chosen]) return;
  event.preventDefault();
  move(chosen, [places[chosen][0] + step[0], places[chosen][1] + step[1]]);
};

// The scenario then has a position of its own for the node; a place that it refuses is not taken.
async function move(node, place) {
  const { name } = stage.nodes[node];
  const before = moved;
  moved = { ...moved, [name]: place };
  if (await restart()) return;
  const why = at("fault").textContent.split("\n")[0].replace(/^error: /, "");
  moved = before;
  await restart();
  at("notice").textContent = `${name} cannot stand there: ${why}`;
}
