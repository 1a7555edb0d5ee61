// Runs networks. A message { call, ... } gets one answer with the same id; `run` sends pictures until it is paused.
let wasm, running = null;

const encode = new TextEncoder(), decode = new TextDecoder();

function said() {
  const { memory, answer, answer_length } = wasm.exports;
  return decode.decode(new Uint8Array(memory.buffer, answer(), answer_length()));
}

const answer = () => JSON.parse(said());

function hand(request) {
  const bytes = encode.encode(JSON.stringify(request));
  const at = wasm.exports.reserve(bytes.length);
  new Uint8Array(wasm.exports.memory.buffer, at, bytes.length).set(bytes);
}

function open(request) {
  hand(request);
  const number = wasm.exports.open();
  return { number, ...answer() };
}

function advance(number, microseconds) {
  wasm.exports.advance(number, microseconds);
  return answer();
}

// Simulated time keeps pace with the clock times `speed`; a machine that is too slow falls behind and says so.
function tick() {
  const run = running;
  if (!run) return;
  const now = performance.now();
  const due = run.simulated + (now - run.clock) / 1000 * run.speed;
  const until = now + 14;
  let seen = null;
  do {
    const step = Math.min(due - run.simulated, 0.05 * Math.max(run.speed, 0.2));
    const next = advance(run.number, Math.max(step, 0) * 1e6);
    seen = seen ? joined(seen, next) : next;
    run.simulated = seen.t_s;
  } while (run.simulated < due - 1e-6 && !seen.finished && performance.now() < until);
  run.behind = due - run.simulated;
  // What could not be done in time is not made up for.
  run.clock = now;
  postMessage({ id: run.id, seen, behind: run.behind > 0.1 * run.speed });
  if (seen.finished) running = null; else setTimeout(tick, Math.max(0, 16 - (performance.now() - now)));
}

function joined(one, two) {
  for (const key of ["air", "got", "arrived"]) one[key] = one[key].concat(two[key]);
  one.dropped = one.dropped.map((count, node) => count + two.dropped[node]);
  return { ...two, air: one.air, got: one.got, arrived: one.arrived, dropped: one.dropped };
}

// Lets new messages through; a timer would wait for some milliseconds.
const { port1: mine, port2: other } = new MessageChannel();
const others = () => new Promise((done) => { mine.onmessage = done; other.postMessage(null); });

// Runs to the end without pictures, in slices.
async function whole(id, request) {
  const opened = open({ ...request, unseen: true });
  if (opened.error) return postMessage({ id, opened });
  const { number, duration_s } = opened;
  for (let seen = { finished: false }, said = performance.now(); !seen.finished;) {
    seen = advance(number, 1e6 * duration_s / 100);
    if (performance.now() - said < 100) continue;
    said = performance.now();
    postMessage({ id, progress: seen.t_s / duration_s });
    await others();
  }
  wasm.exports.close(number);
  const text = said();
  postMessage({ id, text, outcome: JSON.parse(text) });
}

// A report's experiment, in slices: how far it is, and at the end its charts.
async function experiment(id, request) {
  hand(request);
  for (let begin = 1; ; begin = 0) {
    wasm.exports.experiment(begin);
    const now = answer();
    if (now.error) return postMessage({ id, refused: now });
    postMessage({ id, ...now });
    if (now.drawn) return;
    await others();
  }
}

// Memory that is not to be had and a trap of the simulator end here.
onmessage = ({ data }) => handle(data).catch((error) => postMessage({ broken: error.message }));

async function handle(data) {
  const { id, call } = data;
  if (call === "load") {
    wasm = await WebAssembly.instantiate(await WebAssembly.compile(data.bytes), {});
    postMessage({ id });
  } else if (call === "open") {
    running = null;
    if (data.close >= 0) wasm.exports.close(data.close);
    postMessage({ id, opened: open(data.request) });
  } else if (call === "check") {
    const checked = open(data.request);
    if (checked.number >= 0) wasm.exports.close(checked.number);
    postMessage({ id, checked });
  } else if (call === "close") {
    wasm.exports.close(data.number);
  } else if (call === "run") {
    running = { id, number: data.number, speed: data.speed, simulated: data.simulated, clock: performance.now() };
    tick();
  } else if (call === "speed" && running) {
    running.speed = data.speed;
  } else if (call === "pause") {
    running = null;
  } else if (call === "whole") {
    await whole(id, data.request);
  } else if (call === "experiment") {
    await experiment(id, data.request);
  }
}
