// All schemes beside each other.

const milliseconds = (value) => value === null || value === undefined ? "-" : (value * 1000).toFixed(value < 0.01 ? 2 : 1);

at("compare").onclick = async () => {
  const labels = schemes().length ? schemes() : [undefined];
  const name = shown();
  tell({ call: "pause" });
  const wasPlaying = playing;
  playing = false;
  at("compare").disabled = true;
  const head = [axis, "latency p50", "p99", "max, ms", "lost, %", "goodput of all, Mb/s"];
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
