"use strict";
const at = (id) => document.getElementById(id);
const scenes = JSON.parse(at("scenes").textContent);
const colours = ["#0b6fb8", "#d1610a", "#2f8f4e", "#8e44ad", "#b8860b", "#c0392b", "#16808a", "#6b7785"];

// ---- the worker, and questions to it

const worker = new Worker(URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" })));
const asked = new Map();
let questions = 0;
worker.onmessage = ({ data }) => asked.get(data.id)?.(data);
const tell = (message) => worker.postMessage(message);
function ask(message, more) {
  return new Promise((done) => {
    const id = ++questions;
    asked.set(id, (data) => {
      if (more && (data.progress !== undefined || data.seen)) return more(data);
      asked.delete(id);
      done(data);
    });
    tell({ ...message, id });
  });
}

// ---- what is shown

let scene, toml, scheme, settings = {}, moved = {}, seed = 1;
let stage = null;                 // what is open: its number, nodes, flows
let playing = true, time = 0;
let air = [], got = new Set(), waiting = [], places = [], dropped = [];
let rows = { t: [], latency: [], goodput: [], held: [] }, bin = null;
let chosen = null;

const BIN = 0.2;                  // seconds of simulated time a point of the charts stands for

function sets() {
  const list = [];
  for (const slider of scene?.sliders ?? []) {
    if (slider.only && slider.only !== scheme) continue;
    if (settings[slider.name] === undefined || settings[slider.name] === slider.value) continue;
    for (const key of slider.keys) list.push(`${key}=${settings[slider.name]}${slider.unit ? " " + slider.unit : ""}`);
  }
  for (const [name, place] of Object.entries(moved)) {
    list.push(`node.${name}.position=["${place[0].toFixed(1)} m", "${place[1].toFixed(1)} m"]`);
  }
  return list;
}

function request(label = scheme) {
  return { toml, set: sets(), case: label ? [`scheme=${label}`] : [], seed };
}

async function restart() {
  const { opened } = await ask({ call: "open", request: request(), close: stage?.number ?? -1 });
  at("fault").textContent = opened.error ?? "";
  if (opened.error) {
    stage = null;
    at("source").open = true;
    at("status").textContent = "The scenario is refused: see below.";
    return;
  }
  stage = opened;
  [air, got, waiting, dropped, time] = [[], new Set(), [], stage.flows.map(() => 0), 0];
  places = stage.nodes.map((node) => node.place);
  rows = { t: [], latency: [], goodput: stage.flows.map(() => []), held: [] };
  bin = null;
  if (chosen !== null && chosen >= stage.nodes.length) chosen = null;
  choices();
  charts();
  command();
  if (playing) run(); else draw();
}

function run() {
  if (!stage) return;
  ask({ call: "run", number: stage.number, speed: speed(), simulated: time }, ({ seen, behind }) => {
    see(seen, behind);
    if (seen.finished) finished();
  });
}

function finished() {
  playing = false;
  at("play").textContent = "Run again";
}

function see(seen, behind) {
  time = seen.t_s;
  for (const frame of seen.air) air.push(frame);
  for (const number of seen.got) got.add(number);
  while (air.length > 6000) got.delete(air.shift().number);
  waiting = seen.waiting;
  seen.places.forEach((place, node) => { places[node] = place; });
  seen.dropped.forEach((count, flow) => { dropped[flow] += count; });
  for (const [flow, when, delay, bytes] of seen.arrived) arrive(flow, when, delay, bytes);
  while (bin && time >= bin.end) close();
  bin ??= fresh(Math.floor(time / BIN) * BIN);
  const pace = behind ? "; this machine is slower than that" : "";
  at("status").textContent = `${time.toFixed(time < 1 ? 4 : 2)} s simulated, ${seen.events.toLocaleString("en")} events${pace}`;
}

const fresh = (start) => ({ end: start + BIN, worst: null, bytes: stage.flows.map(() => 0) });

function arrive(flow, when, delay, bytes) {
  while (bin && when >= bin.end) close();
  bin ??= fresh(Math.floor(when / BIN) * BIN);
  bin.bytes[flow] += bytes;
  if (!stage.flows[flow].answers && stage.flows[flow].name === shown()) bin.worst = Math.max(bin.worst ?? 0, delay * 1000);
}

function close() {
  rows.t.push(bin.end);
  rows.latency.push(bin.worst);
  bin.bytes.forEach((bytes, flow) => rows.goodput[flow].push(bytes * 8 / BIN / 1e6));
  rows.held.push(waiting.reduce((sum, count) => sum + count, 0));
  bin = fresh(bin.end);
  if (rows.t.length > 1200) for (const list of [rows.t, rows.latency, rows.held, ...rows.goodput]) list.shift();
}

// ---- charts

let plots = [];
const size = (box) => ({ width: Math.max(200, box.clientWidth), height: 210 });

function charts() {
  plots.forEach(({ plot }) => plot.destroy());
  const ink = getComputedStyle(document.body).color;
  const line = getComputedStyle(document.documentElement).getPropertyValue("--line");
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const make = (id, series, data) => {
    const box = at(id);
    const plot = new uPlot({
      ...size(box), series: [{ label: "s" }, ...series], axes: [axis, axis], legend: { live: false, show: series.length < 7 && series.length > 1 },
      scales: { x: { time: false }, y: { range: (_, least, most) => [0, Math.max(most ?? 1, 1) * 1.05] } }, cursor: { show: false },
    }, data(), box);
    plots.push({ plot, data, box });
  };
  plots = [];
  make("latency", [{ label: "worst in 200 ms", stroke: colours[0], spanGaps: true, width: 1.5, points: { show: false } }], () => [rows.t, rows.latency]);
  const named = stage.flows.map((flow, index) => ({ index, flow })).filter(({ flow }) => !flow.answers).slice(0, 60);
  make("goodput", named.map(({ flow, index }) => ({ label: flow.name, stroke: colours[index % colours.length], width: 1.2, points: { show: false } })),
    () => [rows.t, ...named.map(({ index }) => rows.goodput[index])]);
  make("held", [{ label: "packets", stroke: colours[4], width: 1.5, points: { show: false } }], () => [rows.t, rows.held]);
}

// ---- pictures

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

function strip() {
  const { brush, width, height } = canvas("air");
  if (!stage) return;
  const span = 10 ** Number(at("zoom").value);
  at("span").textContent = span >= 1 ? `${span.toFixed(1)} s` : span >= 0.001 ? `${(span * 1000).toFixed(span < 0.01 ? 1 : 0)} ms` : `${(span * 1e6).toFixed(0)} us`;
  const senders = [...new Set(air.map((frame) => frame.from))].sort((one, two) => one - two);
  const left = senders.length <= 16 ? 70 : 8;
  const row = Math.min(26, (height - 24) / Math.max(senders.length, 1));
  const [ink, line, data, control, lost] = ["--ink", "--line", "--data", "--control", "--lost"].map(colour);
  const x = (when) => left + (width - left) * (1 - (time - when) / span);
  senders.forEach((sender, index) => {
    const y = 4 + index * row;
    brush.fillStyle = ink;
    brush.textAlign = "left";
    if (left > 8) brush.fillText(stage.nodes[sender].name.slice(0, 10), 4, y + row * 0.7);
    brush.fillStyle = line;
    brush.fillRect(left, y + row - 1, width - left, 0.5);
  });
  for (let index = air.length - 1; index >= 0; index -= 1) {
    const frame = air[index];
    const [from, until] = [x(frame.start_s), x(frame.start_s + frame.length_s)];
    if (until < left) { if (frame.start_s < time - span - 0.1) break; else continue; }
    const y = 5 + senders.indexOf(frame.from) * row;
    const [begin, wide] = [Math.max(from, left), Math.max(until - Math.max(from, left), 0.7)];
    const over = frame.start_s + frame.length_s < time - 1e-5;
    const missed = over && frame.to !== null && !got.has(frame.number);
    brush.fillStyle = missed ? lost : frame.kind === "data" ? data : control;
    brush.fillRect(begin, y, wide, row - 4);
    // Not by colour alone.
    if (missed && wide > 3) {
      brush.strokeStyle = colour("--paper");
      brush.lineWidth = 1.5;
      brush.beginPath();
      brush.moveTo(begin, y);
      brush.lineTo(begin + wide, y + row - 4);
      brush.moveTo(begin, y + row - 4);
      brush.lineTo(begin + wide, y);
      brush.stroke();
    }
  }
  brush.fillStyle = ink;
  brush.textAlign = "right";
  brush.fillText(`now: ${time.toFixed(4)} s`, width - 4, height - 6);
}

function bars() {
  const { brush, width, height } = canvas("queues");
  if (!stage) return;
  const busy = waiting.map((count, node) => ({ count, node })).filter(({ count }) => count > 0).sort((one, two) => two.count - one.count).slice(0, 12);
  const most = Math.max(50, ...busy.map(({ count }) => count));
  busy.forEach(({ count, node }, index) => {
    const y = 8 + index * 24;
    brush.fillStyle = colour("--data");
    brush.fillRect(86, y, Math.max(1, (width - 140) * count / most), 16);
    brush.fillStyle = colour("--ink");
    brush.textAlign = "left";
    brush.fillText(stage.nodes[node].name.slice(0, 12), 4, y + 13);
    brush.fillText(String(count), 92 + (width - 140) * count / most, y + 13);
  });
  if (!busy.length) {
    brush.fillStyle = colour("--ink");
    brush.textAlign = "left";
    brush.fillText("Nothing waits.", 8, 20);
  }
}

let drawn = 0;
function draw() {
  plan();
  strip();
  bars();
  if (performance.now() - drawn > 150 && stage) {
    drawn = performance.now();
    plots.forEach(({ plot, data }) => plot.setData(data()));
  }
}
function frame() {
  if (playing) draw();
  requestAnimationFrame(frame);
}

// ---- controls

const speed = () => 10 ** Number(at("speed").value);
const shown = () => at("flow").value;

function choices() {
  const names = [...new Set(stage.flows.filter((flow) => !flow.answers).map((flow) => flow.name))];
  const before = shown() || scene?.flow;
  at("flow").replaceChildren(...names.map((name) => new Option(name, name, false, name === before)));
  const axis = stage.axes.find(([name]) => name === "scheme");
  at("schemes").replaceChildren(...(axis?.[1] ?? []).map((label) => {
    const button = document.createElement("button");
    button.textContent = label;
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(label === scheme));
    button.onclick = () => choose(label);
    return button;
  }));
  const cure = axis?.[1].includes(scene?.cure) && scheme !== scene.cure;
  at("cure").hidden = !cure;
  at("cure").textContent = cure ? `Fix it: ${scene.cure}` : "";
}

function choose(label) {
  [scheme, playing] = [label, true];
  at("play").textContent = "Pause";
  sliders();
  return restart();
}

function sliders() {
  at("sliders").replaceChildren(...(scene?.sliders ?? []).filter((slider) => !slider.only || slider.only === scheme).map((slider) => {
    const label = document.createElement("label"), input = document.createElement("input"), output = document.createElement("output");
    const show = () => { output.textContent = ` ${input.value}${slider.unit ? " " + slider.unit : ""}`; };
    Object.assign(input, { type: "range", min: slider.from, max: slider.to, step: slider.step ?? 1 });
    input.value = settings[slider.name] ?? slider.value;
    input.oninput = show;
    input.onchange = () => { settings[slider.name] = Number(input.value); restart(); };
    show();
    label.append(`${slider.name} `, input, output);
    return label;
  }));
}

function pace() {
  const times = speed();
  at("pace").textContent = ` ${times >= 1 ? times.toFixed(times < 10 ? 1 : 0) : "1/" + (1 / times).toFixed(0)} x real time`;
  tell({ call: "speed", speed: times });
}

function command() {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const words = ["sluice run page.toml", ...request().case.map((label) => `--case ${quoted(label)}`), ...sets().map((set) => `--set ${quoted(set)}`)];
  at("command").textContent = [...words, `--seed ${seed}`].join(" ");
}

function load(index) {
  scene = scenes[index];
  [toml, scheme, settings, moved, chosen] = [scene.toml, scene.first, {}, {}, null];
  at("question").textContent = scene.question;
  at("toml").value = toml;
  at("flow").replaceChildren();
  at("table").replaceChildren();
  sliders();
  return restart();
}

at("scene").onchange = () => load(Number(at("scene").value));
at("cure").onclick = () => choose(scene.cure);
at("speed").oninput = pace;
at("zoom").oninput = () => draw();
at("flow").onchange = () => { rows.latency.fill(null); };
at("seed").onchange = () => { seed = Math.max(1, Math.floor(Number(at("seed").value)) || 1); restart(); };
at("again").onclick = () => { playing = true; at("play").textContent = "Pause"; restart(); };
at("play").onclick = () => {
  if (at("play").textContent === "Run again") return at("again").onclick();
  playing = !playing;
  at("play").textContent = playing ? "Pause" : "Run";
  if (playing) run(); else tell({ call: "pause" });
};
at("apply").onclick = () => {
  toml = at("toml").value;
  if (toml !== scene?.toml) { scene = { ...scene, sliders: [] }; sliders(); }
  moved = {};
  scheme = /^\s*scheme\s*=/m.test(toml) ? scheme : undefined;
  restart();
};

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

// ---- beside each other

const milliseconds = (value) => value === null || value === undefined ? "-" : (value * 1000).toFixed(value < 0.01 ? 2 : 1);

at("compare").onclick = async () => {
  const labels = stage?.axes.find(([name]) => name === "scheme")?.[1] ?? [undefined];
  const name = shown();
  tell({ call: "pause" });
  const wasPlaying = playing;
  playing = false;
  at("compare").disabled = true;
  const head = ["scheme", "latency p50", "p99", "max, ms", "lost, %", "goodput of all, Mb/s"];
  const table = [];
  for (const label of labels) {
    const { outcome, opened } = await ask({ call: "whole", request: request(label) }, ({ progress }) => {
      at("progress").textContent = `${label ?? ""}: ${Math.round(100 * progress)} %`;
    });
    if (!outcome) { at("progress").textContent = opened?.error ?? "stopped"; break; }
    const flow = outcome.flows.find((one) => one.name === name) ?? outcome.flows[0];
    table.push([label ?? "", milliseconds(flow.delay_s.p50), milliseconds(flow.delay_s.p99), milliseconds(flow.delay_s.max),
      flow.loss_ratio === null || flow.loss_ratio === undefined ? "-" : (100 * flow.loss_ratio).toFixed(2), (outcome.totals.goodput_bps / 1e6).toFixed(2)]);
    at("table").replaceChildren(row("th", head), ...table.map((cells) => row("td", cells)));
  }
  at("compare").disabled = false;
  if (table.length === labels.length) at("progress").textContent = `seed ${seed}, flow ${name}`;
  if (wasPlaying) { playing = true; run(); }
};

function row(kind, cells) {
  const line = document.createElement("tr");
  line.append(...cells.map((text) => Object.assign(document.createElement(kind), { textContent: text })));
  return line;
}

// ---- the address holds everything

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
async function packed() {
  const state = { v: 1, scene: scene?.file, toml: toml === scene?.toml ? undefined : toml, scheme, settings, moved, seed };
  const bytes = await through(new CompressionStream("deflate-raw"), JSON.stringify(state));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
}

at("share").onclick = async () => {
  location.hash = await packed();
  try {
    await navigator.clipboard.writeText(location.href);
    at("verdict").textContent = "The address is in the clipboard and in the address bar.";
  } catch {
    at("verdict").textContent = "The address is in the address bar.";
  }
};
at("download").onclick = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([at("toml").value], { type: "application/toml" }));
  link.download = "page.toml";
  link.click();
};

// FNV-1a of 64 bits over the results as text: the same as of the command's, recorded when the page was built.
function fingerprint(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
async function verify() {
  tell({ call: "pause" });
  const results = [];
  for (const one of scenes) {
    for (const [label, expected] of Object.entries(one.fingerprints)) {
      at("verdict").textContent = `${one.name}, ${label} ...`;
      const checked = { toml: one.toml, set: [`duration=${one.checked}`], case: [`scheme=${label}`], seed: 1 };
      const { text } = await ask({ call: "whole", request: checked, text: true }, () => {});
      results.push(fingerprint(text ?? "") === expected);
    }
  }
  const right = results.filter(Boolean).length;
  at("verdict").textContent = `${right} of ${results.length} networks have the command's results, to the last byte.`;
  if (playing) run();
  return { right, of: results.length };
}
at("verify").onclick = verify;

async function begin() {
  at("scene").replaceChildren(...scenes.map((one, index) => new Option(one.name, index)));
  const text = atob(at("wasm").textContent.trim());
  const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0));
  const unzipped = await through(new DecompressionStream("gzip"), bytes);
  await ask({ call: "load", bytes: unzipped });
  pace();
  requestAnimationFrame(frame);
  const wanted = location.hash.length > 1 ? await unpacked(location.hash.slice(1)).catch(() => null) : null;
  const index = Math.max(0, scenes.findIndex((one) => one.file === wanted?.scene));
  at("scene").value = index;
  if (!wanted) return load(index);
  scene = scenes[index];
  [toml, scheme, settings, moved, seed] = [wanted.toml ?? scene.toml, wanted.scheme, wanted.settings ?? {}, wanted.moved ?? {}, wanted.seed ?? 1];
  if (wanted.toml) scene = { ...scene, sliders: [] };
  at("question").textContent = scene.question;
  at("toml").value = toml;
  at("seed").value = seed;
  sliders();
  return restart();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (stage) { charts(); draw(); } });
addEventListener("resize", () => { if (stage) { plots.forEach(({ plot, box }) => plot.setSize(size(box))); draw(); } });
const ready = begin();
