// The controls, and the start.

const speed = () => 10 ** Number(at("speed").value);
const shown = () => at("flow").value;

const schemes = () => (stage?.axes.find(([name]) => name === axis)?.[1] ?? []).filter((label) => scene?.labels?.includes(label) ?? true);

let source;                       // the editor

function fault({ error, at: place }) {
  at("fault").textContent = error ?? "";
  source.fault(error, place);
  if (error) at("source").open = true;
}

// A while after the last key the text is read, and a fault is shown.
let pending;
function edited() {
  clearTimeout(pending);
  pending = setTimeout(async () => {
    const text = source.text;
    const { checked } = await ask({ call: "check", request: text === toml ? request() : { ...request(), toml: text, set: [], case: [] } });
    if (text === source.text) {
      at("fault").textContent = checked.error ?? "";
      source.fault(checked.error, checked.at);
    }
  }, 400);
}

function choices() {
  const names = [...new Set(stage.flows.filter((flow) => !flow.answers).map((flow) => flow.name))];
  const before = shown() || scene?.flow;
  at("flow").replaceChildren(...names.map((name) => new Option(name, name, false, name === before)));
  offer();
  const cure = schemes().includes(scene?.cure) && scheme !== scene.cure;
  at("cure").hidden = !cure;
  at("cure").textContent = cure ? `Fix it: ${scene.cure}` : "";
}

// Buttons stay what they are as long as the axes do, so that the keyboard's focus stays with them.
let offered = "";
function offer() {
  const now = JSON.stringify([stage.axes, axis, scene?.labels]);
  if (now !== offered) {
    offered = now;
    at("schemes").replaceChildren(...schemes().map((label) => {
      const button = document.createElement("button");
      button.textContent = label;
      button.setAttribute("role", "radio");
      button.onclick = () => choose(label);
      return button;
    }));
    at("others").replaceChildren(...others());
  }
  for (const button of at("schemes").children) {
    const checked = button.textContent === scheme;
    button.setAttribute("aria-checked", String(checked));
    button.tabIndex = checked ? 0 : -1;
  }
  for (const select of at("others").querySelectorAll("select")) select.value = picks[select.name];
}
// In a group of radio buttons the arrows go from one to the next.
at("schemes").onkeydown = (event) => {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...at("schemes").children], now = buttons.findIndex((one) => one.textContent === scheme);
  const next = buttons[(now + step + buttons.length) % buttons.length];
  next.focus();
  next.click();
};

function choose(label) {
  [scheme, playing] = [label, true];
  at("play").textContent = "Pause";
  sliders();
  return restart();
}

// What else the scenario varies, each axis with its labels.
function others() {
  return (stage?.axes ?? []).filter(([name]) => name !== axis).map(([name, labels]) => {
    const label = document.createElement("label"), select = document.createElement("select");
    select.name = name;
    select.replaceChildren(...labels.map((one) => new Option(one, one)));
    select.onchange = async () => {
      const before = picks;
      picks = { ...picks, [name]: select.value };
      if (await restart()) return;
      const why = at("fault").textContent;
      picks = before;
      await restart();
      at("notice").textContent = why;
    };
    label.append(`${name} `, select);
    return label;
  });
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
  const file = scene?.id && toml === scene.toml ? scene.id : "page.toml";
  const words = [`sluice run ${file}`, ...request().case.map((label) => `--case ${quoted(label)}`), ...sets().map((set) => `--set ${quoted(set)}`)];
  at("command").textContent = [...words, `--seed ${seed}`].join(" ");
}

function load(index) {
  scene = scenes[index];
  [toml, scheme, settings, moved, chosen] = [scene.toml, scene.first, {}, {}, null];
  [axis, picks] = [scene.axis ?? "scheme", scene.case ?? {}];
  at("speed").value = Math.log10(scene.speed ?? 1);
  pace();
  at("question").textContent = scene.question;
  at("see").textContent = scene.see ?? "";
  source.text = toml;
  at("flow").replaceChildren();
  at("table").replaceChildren();
  sliders();
  return restart();
}

at("scene").onchange = () => load(Number(at("scene").value));
at("cure").onclick = () => choose(scene.cure);
at("speed").oninput = pace;
at("zoom").oninput = () => draw();
at("flow").onchange = () => { rows.latency.fill(null); charts(); };
at("seed").onchange = () => { seed = Math.max(1, Math.floor(Number(at("seed").value)) || 1); restart(); };
at("again").onclick = () => { playing = true; at("play").textContent = "Pause"; restart(); };
at("play").onclick = () => {
  if (at("play").textContent === "Run again") return at("again").onclick();
  playing = !playing;
  at("play").textContent = playing ? "Pause" : "Run";
  if (playing) run(); else tell({ call: "pause" });
};
at("apply").onclick = async () => {
  toml = source.text;
  moved = {};
  if (toml !== scene?.toml) await fit();
  restart();
};

// A text of the reader's own: of its axes the first is that of the schemes, unless it has the scene's.
async function fit() {
  scene = { ...scene, sliders: [], set: [] };
  const { opened } = await ask({ call: "open", request: { ...request(), set: [], case: [] }, close: -1 });
  if (opened.error) return;
  tell({ call: "close", number: opened.number });
  if (!opened.axes.some(([name]) => name === axis)) axis = opened.axes[0]?.[0];
  const wanted = { ...picks, [axis]: scheme };
  const alike = (labels) => Object.entries(labels).filter(([name, label]) => wanted[name] === label).length;
  const best = opened.cases.reduce((one, two) => (alike(two) > alike(one) ? two : one), opened.cases[0] ?? {});
  scheme = best[axis];
  picks = Object.fromEntries(Object.entries(best).filter(([name]) => name !== axis));
}

// In a report, whose experiment is the only scene: its first case.
async function fromReport({ toml: text, set }) {
  scene = { name: "The experiment of the report", id: /^id = "(.+)"$/m.exec(text)?.[1] ?? "page", question: "", sliders: [], set };
  at("scene").replaceChildren(new Option(scene.name));
  [toml, scene.toml, source.text] = [text, text, text];
  await fit();
  scene.set = set;
  return restart();
}

async function begin() {
  at("scene").replaceChildren(...scenes.map((one, index) => new Option(one.name, index)));
  const loaded = unzipped("wasm").then((bytes) => ask({ call: "load", bytes }));
  const schema = JSON.parse(new TextDecoder().decode(await unzipped("schema")));
  source = libraries.editor(at("toml"), schema, edited);
  await loaded;
  started = true;
  at("broken").hidden = true;
  document.querySelector("main").hidden = false;
  pace();
  if (document.getElementById("given")) return fromReport(JSON.parse(at("given").textContent));
  const wanted = location.hash.length > 1 ? await unpacked(location.hash.slice(1)).catch(() => null) : null;
  const index = Math.max(0, scenes.findIndex((one) => one.file === wanted?.scene));
  at("scene").value = index;
  if (!wanted) return load(index);
  scene = scenes[index];
  [toml, scheme, settings, moved, seed] = [wanted.toml ?? scene.toml, wanted.scheme, wanted.settings ?? {}, wanted.moved ?? {}, wanted.seed ?? 1];
  [axis, picks] = [wanted.axis ?? "scheme", wanted.picks ?? {}];
  if (wanted.toml) scene = { ...scene, sliders: [], set: [] };
  at("question").textContent = scene.question;
  at("see").textContent = scene.see ?? "";
  source.text = toml;
  at("seed").value = seed;
  sliders();
  return restart();
}
dark.addEventListener("change", () => { palette = new Map(); if (stage) { charts(); draw(); } });
addEventListener("resize", () => { if (stage) { plots.forEach(({ plot, box }) => plot.setSize(size(box))); draw(); } });
const ready = begin().then(() => performance.mark("ready"));
