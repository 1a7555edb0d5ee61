// The controls, and the start.

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
