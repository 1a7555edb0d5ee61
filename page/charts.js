// The running charts.

let plots = [];
const dark = matchMedia("(prefers-color-scheme: dark)");
const size = (box) => ({ width: Math.max(200, box.clientWidth), height: innerWidth < 2000 ? 210 : 380 });

function charts() {
  plots.forEach(({ plot }) => plot.destroy());
  // On black the first is too dark.
  const hues = dark.matches ? [colours[5], ...colours.slice(1, 5), colours[0]] : colours;
  const ink = getComputedStyle(document.body).color;
  const line = getComputedStyle(document.documentElement).getPropertyValue("--line");
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const make = (id, series, data) => {
    const box = at(id);
    const plot = new libraries.uPlot({
      ...size(box), series: [{ label: "s" }, ...series], axes: [axis, axis], legend: { live: false, show: series.length < 7 && series.length > 1 },
      scales: { x: { time: false }, y: { range: (_, least, most) => [0, Math.max(most ?? 1, 0.01) * 1.05] } }, cursor: { show: false },
    }, data(), box);
    plots.push({ plot, data, box });
  };
  plots = [];
  make("latency", [{ label: "worst in 200 ms", stroke: hues[0], spanGaps: true, width: 1.5, points: { show: false } }], () => [rows.t, rows.latency]);
  const named = stage.flows.map((flow, index) => ({ index, flow })).filter(({ flow }) => !flow.answers).slice(0, 60);
  // Of many flows the chosen one stands out.
  const many = named.length > 2 * hues.length;
  if (many) named.sort((one, two) => (one.flow.name === shown()) - (two.flow.name === shown()));
  const look = (name, place) => !many ? { stroke: hues[place % hues.length], width: 1.5, dash: place < hues.length ? [] : [6, 3] }
    : name === shown() ? { stroke: hues[1], width: 2 } : { stroke: `rgb(${colour("--shade")} / 0.35)`, width: 1 };
  make("goodput", named.map(({ flow }, place) => ({ label: flow.name, points: { show: false }, ...look(flow.name, place) })),
    () => [rows.t, ...named.map(({ index }) => rows.goodput[index])]);
  make("held", [{ label: "packets", stroke: hues[4], width: 1.5, points: { show: false } }], () => [rows.t, rows.held]);
}
