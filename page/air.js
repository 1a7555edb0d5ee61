// The strip of the air, and the queues.

function strip() {
  const { brush, width, height } = canvas("air");
  if (!stage) return;
  const span = 10 ** Number(at("zoom").value);
  at("span").textContent = span >= 1 ? `${span.toFixed(1)} s` : span >= 0.001 ? `${(span * 1000).toFixed(span < 0.01 ? 1 : 0)} ms` : `${(span * 1e6).toFixed(0)} us`;
  const senders = [...heard].sort((one, two) => one - two);
  const rows_of = new Map(senders.map((sender, index) => [sender, index]));
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
    const y = 5 + rows_of.get(frame.from) * row;
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
  const of = (node) => ({ node, count: waiting[node], lost: dropped[node] });
  const busy = stage.nodes.map((_, node) => of(node)).filter(({ count, lost }) => count > 0 || lost.all > 0)
    .sort((one, two) => two.count - one.count || two.lost.all - one.lost.all).slice(0, Math.floor((height - 8) / 24));
  const most = Math.max(50, ...busy.map(({ count }) => count));
  brush.textAlign = "left";
  busy.forEach(({ count, node, lost }, index) => {
    const y = 8 + index * 24, end = 86 + Math.max(1, (width - (innerWidth < 2000 ? 220 : 300)) * count / most);
    brush.fillStyle = colour("--data");
    brush.fillRect(86, y, end - 86, 16);
    brush.fillStyle = colour("--ink");
    brush.fillText(stage.nodes[node].name.slice(0, 12), 4, y + 13);
    brush.fillText(String(count), end + 6, y + 13);
    if (!lost.all) return;
    // In bold while it drops.
    brush.font = `${time - lost.last < 0.2 ? "bold " : ""}${FONT}`;
    brush.fillStyle = colour("--lost-text");
    brush.textAlign = "right";
    brush.fillText(`${lost.all.toLocaleString("en")} dropped`, width - 4, y + 13);
    brush.textAlign = "left";
    brush.font = FONT;
  });
  if (!busy.length) {
    brush.fillStyle = colour("--ink");
    brush.fillText("Nothing waits.", 8, 20);
  }
}

let drawn = 0, charted, painting = false;
function draw() {
  drawn = performance.now();
  plan();
  strip();
  bars();
  status();
  if (stage && rows.t.at(-1) !== charted) {
    charted = rows.t.at(-1);
    plots.forEach(({ plot, data }) => plot.setData(data()));
  }
}
// While something runs the air is drawn in each picture. All else is slower to draw, and changes too fast to be followed.
// Who wants less motion gets one picture a second.
const calm = matchMedia("(prefers-reduced-motion: reduce)");
function frame() {
  if (!playing || performance.now() - drawn > (calm.matches ? 1000 : 60)) draw(); else if (!calm.matches) strip();
  painting = playing;
  if (playing) requestAnimationFrame(frame);
}
function paint() {
  if (painting) return;
  painting = true;
  requestAnimationFrame(frame);
}
