"use strict";
const at = (id) => document.getElementById(id);
const scenes = JSON.parse(at("scenes").textContent);
// Told apart with any kind of colour vision (Okabe and Ito), on white and on black.
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

// ---- what keeps the page from simulating, in a sentence

at("broken").textContent = "The simulator is starting.";
// Set before anything can fail: `broken` reads them.
let started = false, playing = true;
function broken(error) {
  playing = false;
  document.querySelector("main").inert = true;
  at("broken").hidden = false;
  at("scene").disabled = true;
  const why = started
    ? "The simulation has stopped. Load the page again; a network of fewer stations needs less memory."
    : "The simulator cannot start: this browser is too old for it, or the policy of the server that sent this page (Content-Security-Policy) refuses WebAssembly or workers. Save the page and open the file, or use the command sluice.";
  at("broken").textContent = `${why} (${error})`;
}
// Without an error it is a remark of the browser.
addEventListener("error", ({ error, message }) => error && broken(message));
addEventListener("unhandledrejection", ({ reason }) => broken(reason?.message ?? reason));

// ---- the worker, and questions to it

const worker = new Worker(URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" })));
const asked = new Map();
let questions = 0;
worker.onmessage = ({ data }) => (data.broken === undefined ? asked.get(data.id)?.(data) : broken(data.broken));
worker.onerror = ({ message }) => broken(message ?? "no worker");
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
let axis = "scheme", picks = {};  // the axis whose labels are schemes, and the labels of the other axes
let stage = null;                 // what is open: its number, nodes, flows
let time = 0, progress = { events: 0, behind: false };
let air = [], heard = new Set(), got = new Set(), waiting = [], places = [], dropped = [];
let rows = { t: [], latency: [], goodput: [], held: [] }, bin = null;
let chosen = null;

const BIN = 0.2;                  // seconds of simulated time a point of the charts stands for
const ANSWERED = 2;               // seconds of simulated time whose worst latency is the number above the charts

function sets() {
  const list = [...scene?.set ?? []];
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
  const labels = label ? [...Object.entries(picks), [axis, label]] : Object.entries(picks);
  return { toml, set: sets(), case: labels.map(([name, value]) => `${name}=${value}`), seed };
}

async function restart() {
  const { opened } = await ask({ call: "open", request: request(), close: stage?.number ?? -1 });
  fault(opened);
  at("notice").textContent = "";
  if (opened.error) {
    stage = null;
    at("notice").textContent = "The scenario is refused: see below.";
    return false;
  }
  stage = opened;
  [air, heard, got, waiting, dropped, time] = [[], new Set(), new Set(), [], stage.nodes.map(() => ({ all: 0, last: -1 })), 0];
  places = stage.nodes.map((node) => node.place);
  rows = { t: [], latency: [], goodput: stage.flows.map(() => []), held: [] };
  bin = null;
  if (chosen !== null && chosen >= stage.nodes.length) chosen = null;
  choices();
  charts();
  command();
  const radio = places.some(Boolean);
  for (const id of ["plan", "air"]) at(id).closest("figure").hidden = !radio;
  if (playing) run(); else draw();
  return true;
}

function run() {
  if (!stage) return;
  paint();
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
  for (const frame of seen.air) {
    air.push(frame);
    heard.add(frame.from);
  }
  for (const number of seen.got) got.add(number);
  while (air.length > 6000) got.delete(air.shift().number);
  waiting = seen.waiting;
  seen.places.forEach((place, node) => { places[node] = place; });
  seen.dropped.forEach((count, node) => {
    if (count) dropped[node] = { all: dropped[node].all + count, last: time };
  });
  for (const [flow, when, delay, bytes] of seen.arrived) arrive(flow, when, delay, bytes);
  while (bin && time >= bin.end) close();
  bin ??= fresh(Math.floor(time / BIN) * BIN);
  progress = { events: seen.events, behind };
}

function status() {
  if (!stage) return;
  const pace = progress.behind ? "; this machine is slower than that" : "";
  const worst = rows.latency.slice(-ANSWERED / BIN).filter((one) => one !== null);
  at("answer").textContent = worst.length ? `${shown()}: ${milliseconds(Math.max(...worst) / 1000)} ms at most in the last ${ANSWERED} s` : "";
  at("status").textContent = `${time.toFixed(time < 1 ? 4 : 2)} s simulated, ${progress.events.toLocaleString("en")} events${pace}`;
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
