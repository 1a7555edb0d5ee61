// Draws the pictures that the page holds as data (see picture.rs), each panel by itself.
(() => {
  "use strict";
  const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
  const RULE_DASHES = { deadline: [7, 4], target: [2, 3] };
  const HEIGHT = 240;
  // Powers of ten stand out from the lines between them.
  const POWER = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6";
  const LOG_AXIS = { format: "~g", gridOpacity: { condition: { test: POWER, value: 1 }, value: 0.4 } };
  const root = document.documentElement;
  let data = JSON.parse(document.getElementById("data").textContent);
  // Colours are the page's own variables, so that dark mode and print need no second drawing.
  const colour = (line) => `var(--line-${line.colour}${line.dash % 2 ? "-deep" : ""})`;
  const formatLocale = { decimal: ".", thousands: "\u202f", grouping: [3], currency: ["", ""] };
  // Expressions are interpreted: policies without 'unsafe-eval' forbid to compile them.
  const EMBED = { renderer: "svg", actions: false, tooltip: false, formatLocale, ast: true };
  const font = getComputedStyle(document.body).fontFamily;
  const config = {
    background: null, font, aria: false, view: { stroke: null },
    axis: {
      labelColor: "var(--quiet)", titleColor: "var(--quiet)", domainColor: "var(--edge)", tickColor: "var(--edge)",
      gridColor: "var(--grid)", labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", tickSize: 4,
      titlePadding: 8, labelPadding: 4,
    },
    axisX: { grid: false, labelFlush: false }, axisY: { domain: false, ticks: false, tickCount: 5, minExtent: 34 },
  };

  // 1800000 -> "1 800 000"; 0.012345 -> "0.01235"
  function figure(value) {
    if (value === null || value === undefined) return "–";
    const text = Math.abs(value) >= 1e4 ? Math.round(value).toString() : Number(value.toPrecision(4)).toString();
    return /^-?\d{5,}$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, "\u202f") : text;
  }

  // One row a place on the x axis; line k has the fields y<k>, low<k>, high<k>, and from<k>, where its whisker begins.
  function rows(picture, panel) {
    const { factor, log, domain } = picture.y;
    const scaled = (value) => (value === null || (log && value <= 0) ? null : value * factor);
    if (picture.x) {
      return picture.x.at.map((at, place) => {
        const row = { x: at };
        panel.lines.forEach((line, k) => {
          const point = line.points.find((candidate) => candidate[0] === place);
          if (!point) return;
          const [mean, low, high] = point[1];
          row[`y${k}`] = scaled(mean);
          row[`from${k}`] = log ? Math.max(low, domain[0]) * factor : low * factor;
          [row[`low${k}`], row[`high${k}`]] = [low * factor, high * factor];
        });
        return row;
      });
    }
    if (picture.values) {
      return picture.values.at.map((at, i) => {
        const row = { x: at };
        panel.lines.forEach((line, k) => { row[`y${k}`] = scaled(data.series[line.series].values[i] ?? null); });
        return row;
      });
    }
    const tracks = panel.lines.map((line) => data.series[line.series]);
    const longest = tracks.reduce((a, b) => (b.values.length * b.step > a.values.length * a.step ? b : a));
    return longest.values.map((_, i) => {
      const row = { x: Number(((i + 1) * longest.step).toPrecision(9)) };
      tracks.forEach((track, k) => {
        const j = track.step === longest.step ? i : Math.round(row.x / track.step) - 1;
        row[`y${k}`] = scaled(track.values[j] ?? null);
      });
      return row;
    });
  }

  function xEncoding(picture, all, width) {
    const { x, values } = picture;
    if (values) {
      const domain = [all[0].x, all[all.length - 1].x];
      return {
        field: "x", type: "quantitative", title: values.title, scale: { type: values.log ? "log" : "linear", domain, nice: false },
        axis: values.log ? { format: "~g", tickCount: 5 } : { tickCount: Math.max(3, Math.round(width / 90)) },
      };
    }
    if (!x) {
      return {
        field: "x", type: "quantitative", title: "time (s)",
        scale: { domain: [0, all[all.length - 1].x], nice: false },
        axis: { tickCount: Math.max(3, Math.round(width / 90)) },
      };
    }
    const labels = `${JSON.stringify(x.labels)}[indexof(${JSON.stringify(x.at)}, datum.value)]`;
    const crowded = x.labels.reduce((sum, label) => sum + label.length + 3, 0) * 7 > width;
    const slant = x.ordinal && crowded ? { labelAngle: -30, labelAlign: "right" } : { labelAngle: 0 };
    const [low, high] = [Math.min(...x.at), Math.max(...x.at)];
    const axis = { values: x.at, labelExpr: labels, labelOverlap: x.ordinal ? false : "greedy", ...slant };
    if (x.log && !x.ordinal) {
      const margin = high > low ? (high / low) ** 0.05 : 2;
      return {
        field: "x", type: "quantitative", title: x.title,
        scale: { type: "log", domain: [low / margin, high * margin], nice: false }, axis,
      };
    }
    const margin = high > low ? (high - low) * (x.ordinal ? 0.5 / Math.max(1, x.at.length - 1) : 0.05) : 1;
    return {
      field: "x", type: "quantitative", title: x.title, scale: { domain: [low - margin, high + margin], nice: false, zero: false },
      axis,
    };
  }

  function layers(picture, panel, x, all) {
    const { factor, log, domain, title } = picture.y;
    const y = {
      type: "quantitative", title,
      scale: { type: log ? "log" : "linear", domain: domain.map((v) => v * factor), nice: true },
      axis: log ? LOG_AXIS : {},
    };
    const marks = [];
    panel.lines.forEach((line, k) => {
      const stroke = { color: colour(line), strokeDash: DASHES[line.dash % DASHES.length] };
      const field = { ...y, field: `y${k}` };
      // Side by side by a few pixels, so that intervals at one place stay apart.
      const beside = picture.x ? (k - (panel.lines.length - 1) / 2) * Math.min(picture.x.ordinal ? 14 : 5, 36 / panel.lines.length) : 0;
      const name = (part) => `${part}_${line.key}`;
      if (!picture.x || !picture.x.ordinal) {
        marks.push({
          name: name("line"), encoding: { x, y: field },
          mark: { type: "line", strokeWidth: picture.x ? 1.5 : 1.4, strokeCap: "round", strokeJoin: "round", xOffset: beside, ...stroke },
        });
      }
      if (picture.x) {
        marks.push({
          name: name("whisker"), encoding: { x, y: { ...y, field: `from${k}` }, y2: { field: `high${k}` } },
          mark: { type: "rule", strokeWidth: 1.5, xOffset: beside, color: stroke.color },
        }, {
          name: name("point"), encoding: { x, y: field },
          mark: {
            type: "point", size: 42, opacity: 1, xOffset: beside, stroke: stroke.color, strokeWidth: 1.5,
            fill: line.dash ? "var(--page)" : stroke.color,
          },
        });
      }
    });
    for (const rule of panel.rules) marks.push(...ruleLayers(picture, panel, rule, x, y, all));
    return marks;
  }

  // The end of a rule where fewer values would lie under its name: the left (0) or the right (1).
  function freeEnd(picture, panel, level, all) {
    const [low, high] = picture.y.domain.map((v) => v * picture.y.factor);
    const share = picture.y.log
      ? (value) => Math.log(value / low) / Math.log(high / low)
      : (value) => (value - low) / (high - low);
    const reach = Math.ceil(all.length * 0.3);
    const crossed = (part) => part.reduce((count, row) => count + panel.lines.filter((_, k) => {
      const above = (row[`y${k}`] ?? null) === null ? -1 : share(row[`y${k}`]) - share(level);
      return above > -0.01 && above < 0.09;
    }).length, 0);
    return crossed(all.slice(0, reach)) < crossed(all.slice(-reach)) ? 0 : 1;
  }

  function ruleLayers(picture, panel, rule, x, y, all) {
    const { factor } = picture.y;
    const line = { color: "var(--rule)", strokeDash: RULE_DASHES[rule.kind], strokeWidth: 1.2 };
    const text = {
      type: "text", text: rule.name, align: "right", baseline: "bottom", dx: -4, dy: -4, fontSize: 12, color: "var(--rule)",
    };
    if (rule.at !== undefined && picture.values) {
      const at = { ...x, datum: rule.at * picture.values.factor };
      delete at.field;
      if (at.datum > x.scale.domain[1]) return [];
      const once = { values: [{}] };
      const end = at.datum > x.scale.domain[1] * 0.7 ? { align: "right", dx: -4 } : { align: "left", dx: 4 };
      return [
        { data: once, mark: { type: "rule", ...line }, encoding: { x: at } },
        { data: once, mark: { ...text, ...end, baseline: "bottom", dy: -6 }, encoding: { x: at, y: { value: "height" } } },
      ];
    }
    if (rule.at !== undefined) {
      const at = { ...y, datum: rule.at * factor };
      const once = { values: [{}] };
      const right = freeEnd(picture, panel, rule.at * factor, all);
      const end = right ? { align: "right", dx: -4 } : { align: "left", dx: 4 };
      return [
        { data: once, mark: { type: "rule", ...line }, encoding: { y: at } },
        { data: once, mark: { ...text, ...end }, encoding: { x: { value: right ? "width" : 0 }, y: at } },
      ];
    }
    const along = rule.along.map(([place, value]) => ({ x: picture.x.at[place], y: value * factor })).sort((a, b) => a.x - b.x);
    const place = { x, y: { ...y, field: "y" } };
    return [
      { data: { values: along }, mark: { type: "line", ...line }, encoding: place },
      { data: { values: along.slice(-1) }, mark: { ...text, dx: 0, dy: -8 }, encoding: place },
    ];
  }

  // Points over a result, each with its name and its intervals along both axes.
  function points({ x, y, points: all }) {
    const axis = ({ title, log, domain, factor }, field) => ({
      field, type: "quantitative", title, axis: { ...(log ? LOG_AXIS : {}), tickCount: 4 },
      scale: { type: log ? "log" : "linear", domain: domain.map((v) => v * factor), nice: false, clamp: true, ...(log ? {} : { zero: false }) },
    });
    const marks = all.map((point) => {
      const name = (part) => `${part}_${point.key}`;
      const color = colour(point);
      const [px, py] = [point.x.map((v) => v * x.factor), point.y.map((v) => v * y.factor)];
      const row = { values: [{ x: px[0], xl: px[1], xh: px[2], y: py[0], yl: py[1], yh: py[2] }] };
      const [ex, ey] = [axis(x, "x"), axis(y, "y")];
      const rule = { type: "rule", strokeWidth: 1.2, color };
      return [
        { name: name("line"), data: row, mark: rule, encoding: { x: { ...ex, field: "xl" }, x2: { field: "xh" }, y: ey } },
        { name: name("whisker"), data: row, mark: rule, encoding: { x: ex, y: { ...ey, field: "yl" }, y2: { field: "yh" } } },
        {
          name: name("point"), data: row, encoding: { x: ex, y: ey },
          mark: { type: "point", size: 42, opacity: 1, stroke: color, strokeWidth: 1.5, fill: point.full ? color : "var(--page)" },
        },
        {
          name: name("label"), data: row, encoding: { x: ex, y: ey },
          mark: { type: "text", text: point.name, align: "left", baseline: "bottom", dx: 6, dy: -3, fontSize: 11, color: "var(--quiet)" },
        },
      ];
    });
    return marks.flat();
  }

  async function draw(picture, panel, plot) {
    if (panel.scatter) {
      const spec = {
        width: "container", height: HEIGHT, autosize: { type: "fit-x", contains: "padding" },
        padding: { left: 2, right: 12, top: 8, bottom: 2 }, config, layer: points(panel.scatter),
      };
      const { view } = await vegaEmbed(plot, spec, EMBED);
      listenToPoints(plot, view, panel.scatter);
      plot.dataset.drawn = "";
      return;
    }
    const all = rows(picture, panel);
    const x = xEncoding(picture, all, plot.clientWidth);
    const spec = {
      width: "container", height: HEIGHT, autosize: { type: "fit-x", contains: "padding" },
      padding: { left: 2, right: 12, top: 8, bottom: 2 },
      data: { values: all }, config, layer: layers(picture, panel, x, all),
    };
    const { view } = await vegaEmbed(plot, spec, EMBED);
    listen(plot, view, picture, panel, all);
    plot.dataset.drawn = "";
  }

  // The values of the point that is nearest to the pointer.
  function listenToPoints(plot, view, { x, y, points: all }) {
    const tip = document.createElement("div");
    tip.className = "tip";
    const show = (event) => {
      const [left, top] = view.origin();
      const box = plot.getBoundingClientRect();
      const place = (point) => [
        left + view.scale("x")(point.x[0] * x.factor), top + view.scale("y")(point.y[0] * y.factor),
      ];
      const away = (point) => {
        const [px, py] = place(point);
        return Math.hypot(px - (event.clientX - box.left), py - (event.clientY - box.top));
      };
      const point = all.reduce((a, b) => (away(b) < away(a) ? b : a));
      const title = document.createElement("p");
      title.textContent = point.name;
      const table = document.createElement("table");
      for (const [axis, [mean, low, high]] of [[x, point.x], [y, point.y]]) {
        const cells = table.insertRow();
        const name = document.createElement("th");
        name.scope = "row";
        name.textContent = axis.title;
        cells.append(name);
        const interval = high > low ? ` (${figure(low * axis.factor)} to ${figure(high * axis.factor)})` : "";
        cells.insertCell().textContent = figure(mean * axis.factor) + interval;
      }
      tip.replaceChildren(title, table);
      plot.append(tip);
      const [px, py] = place(point);
      const beside = px + 12 + tip.offsetWidth <= box.width ? px + 12 : Math.max(0, px - 12 - tip.offsetWidth);
      Object.assign(tip.style, { left: `${beside}px`, top: `${py + 4}px` });
    };
    plot.addEventListener("pointermove", show);
    plot.addEventListener("pointerdown", show);
    plot.addEventListener("pointerleave", () => tip.remove());
  }

  // The values under the pointer, line by line.
  function listen(plot, view, picture, panel, all) {
    const cross = document.createElement("div");
    const tip = document.createElement("div");
    cross.className = "cross";
    tip.className = "tip";
    const hide = () => { cross.remove(); tip.remove(); };
    const show = (event) => {
      const [left, top] = view.origin();
      const box = plot.getBoundingClientRect();
      const scale = view.scale("x");
      const at = event.clientX - box.left - left;
      if (at < -4 || at > view.width() + 4) return hide();
      const near = (a, b) => (Math.abs(scale(b.x) - at) < Math.abs(scale(a.x) - at) ? b : a);
      const row = all.reduce(near);
      fill(tip, picture, panel, row, all.indexOf(row));
      const middle = left + scale(row.x);
      Object.assign(cross.style, { left: `${middle}px`, top: `${top}px`, height: `${view.height()}px` });
      plot.append(cross, tip);
      const right = middle + 12 + tip.offsetWidth <= box.width;
      const place = right ? middle + 12 : Math.max(0, middle - 12 - tip.offsetWidth);
      Object.assign(tip.style, { left: `${place}px`, top: `${top + 4}px` });
    };
    plot.addEventListener("pointermove", show);
    plot.addEventListener("pointerdown", show);
    plot.addEventListener("pointerleave", hide);
  }

  function fill(tip, picture, panel, row, place) {
    const title = document.createElement("p");
    title.textContent = picture.x ? picture.x.labels[place] : `${figure(row.x)} ${picture.values?.unit ?? "s"}`;
    const table = document.createElement("table");
    panel.lines.forEach((line, k) => {
      const cells = table.insertRow();
      const name = document.createElement("th");
      name.scope = "row";
      name.textContent = line.name;
      name.style.color = colour(line);
      cells.append(name);
      const [low, high] = [row[`low${k}`], row[`high${k}`]];
      const interval = high > low ? ` (${figure(low)} to ${figure(high)})` : "";
      cells.insertCell().textContent = figure(row[`y${k}`]) + interval;
    });
    tip.replaceChildren(title, table);
  }

  // A press on the legend hides a line in all panels of its picture.
  function toggles(figureElement) {
    for (const button of figureElement.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const shown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", shown);
        for (const part of ["line", "whisker", "point", "label"]) {
          for (const mark of figureElement.querySelectorAll(`.${part}_${button.dataset.key}_marks`)) {
            mark.style.display = shown ? "" : "none";
          }
        }
      });
    }
  }

  // A press on a count shows the claims with this verdict alone, in all studies of the page; another press shows all again.
  function filters() {
    const buttons = [...document.querySelectorAll(".tally button")];
    const claims = [...document.querySelectorAll(".claim")];
    const folded = [...document.querySelectorAll(".rest")];
    const show = (wanted) => {
      const like = (button) => button.dataset.verdict === wanted.verdict && button.dataset.origin === wanted.origin;
      for (const button of buttons) button.setAttribute("aria-pressed", Boolean(wanted) && like(button));
      for (const claim of claims) {
        const { origin, verdicts } = claim.dataset;
        claim.hidden = Boolean(wanted) && !(origin === wanted.origin && verdicts.split(" ").includes(wanted.verdict));
      }
      for (const table of document.querySelectorAll("table.claims")) table.hidden = !table.querySelector(".claim:not([hidden])");
      for (const rest of folded) {
        rest.hidden = rest.querySelector("table").hidden;
        rest.open = Boolean(wanted) && !rest.hidden;
      }
    };
    for (const button of buttons) {
      button.addEventListener("click", () => show(button.getAttribute("aria-pressed") === "true" ? null : button.dataset));
    }
    // On paper nothing can be unfolded.
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = folded.filter((rest) => !rest.open);
      for (const rest of closed) rest.open = true;
    });
    addEventListener("afterprint", () => { for (const rest of closed) rest.open = false; });
  }

  function copies() {
    if (!navigator.clipboard) return;
    for (const line of document.querySelectorAll(".command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(line.querySelector("code").textContent);
        button.textContent = "Copied";
      });
      line.append(button);
    }
  }

  async function drawAll() {
    for (const picture of data.pictures) {
      for (const { lines, scatter } of picture.panels) {
        for (const line of [...lines, ...(scatter?.points ?? [])]) Object.assign(line, picture.legend[line.key]);
      }
      for (const [k, panel] of picture.panels.entries()) {
        const plot = document.getElementById(`${picture.id}-${k}`);
        const still = [...plot.childNodes];
        try {
          await draw(picture, panel, plot);
        } catch (error) {
          plot.replaceChildren(...still);
          throw error;
        }
      }
      toggles(document.getElementById(`${picture.id}-0`).closest("figure"));
    }
    root.dataset.charts = "drawn";
  }

  // For figures that stand in the page anew.
  window.report = { draw: (next) => { data = next; return drawAll(); } };

  copies();
  filters();
  drawAll().catch((error) => {
    root.dataset.charts = "failed";
    console.error(error);
  });
})();
