// Saves a figure as it stands: as SVG, or as PNG of three times its size. In the colours of daylight, whatever the page
// shows, with every colour written out, so that any program can read it.
(() => {
  "use strict";
  const SCALE = 3;

  // The page's variables outside of its rules for dark screens, as #rrggbb.
  function palette() {
    const given = {};
    for (const sheet of document.styleSheets) {
      for (const rule of sheet.cssRules) {
        if (rule.selectorText !== ":root") continue;
        for (const name of rule.style) if (name.startsWith("--")) given[name] = rule.style.getPropertyValue(name).trim();
      }
    }
    const whole = (value) => value.replace(/var\((--[\w-]+)\)/g, (_, name) => whole(given[name] ?? "#000000"));
    const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const known = {};
    return (name) => {
      if (!known[name]) {
        brush.fillStyle = whole(`var(${name})`);
        brush.fillRect(0, 0, 1, 1);
        const hex = [...brush.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((part) => part.toString(16).padStart(2, "0"));
        known[name] = `#${hex.join("")}`;
      }
      return known[name];
    };
  }

  function part(name, attributes, text) {
    const made = document.createElementNS(document.querySelector(".plot svg").namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  }

  // A line of text where an element of the page has its own.
  function written(element, from, box, weight) {
    const at = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return part("text", {
      x: from - box.left, y: at.top - box.top + at.height / 2, "dominant-baseline": "central", fill: "var(--ink)",
      "font-size": style.fontSize, "font-weight": weight,
    }, element.textContent.trim());
  }

  // Legend, titles of panels and panels in one picture: its markup, width and height.
  function compose(figure) {
    const panels = figure.querySelector(".panels");
    const legend = figure.querySelector(".legend");
    const room = panels.getBoundingClientRect();
    const top = legend ? legend.getBoundingClientRect().top : room.top;
    const box = { left: Math.min(room.left, legend ? legend.getBoundingClientRect().left : room.left), top };
    const [width, height] = [Math.ceil(room.right - box.left), Math.ceil(room.bottom - top)];
    const picture = part("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, "font-family": getComputedStyle(document.body).fontFamily,
    });
    picture.append(part("title", {}, figure.querySelector("figcaption strong").textContent));
    picture.append(part("rect", { width, height, fill: "var(--page)" }));
    for (const button of legend ? legend.querySelectorAll("button") : []) {
      if (button.getAttribute("aria-pressed") === "false") continue;
      const sample = button.querySelector("svg");
      const at = sample.getBoundingClientRect();
      const line = sample.querySelector("line");
      const colour = [...line.classList].find((name) => name.startsWith("stroke-")).slice("stroke-".length);
      const dashes = getComputedStyle(line).strokeDasharray;
      const y = at.top - top + at.height / 2;
      picture.append(part("line", {
        x1: at.left - box.left + 1, x2: at.right - box.left - 1, y1: y, y2: y, stroke: `var(--line-${colour})`, "stroke-width": 2.5,
        "stroke-dasharray": dashes === "none" ? "none" : dashes.replace(/px/g, ""),
      }), written(button, at.right + 4, box, "normal"));
    }
    for (const title of panels.querySelectorAll(".panel-title")) {
      picture.append(written(title, title.getBoundingClientRect().left, box, "600"));
    }
    for (const plot of panels.querySelectorAll(".plot svg")) {
      const at = plot.getBoundingClientRect();
      const copy = plot.cloneNode(true);
      copy.removeAttribute("style");
      const place = { x: at.left - box.left, y: at.top - top, width: at.width, height: at.height };
      for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
      // What the page's style says of names of rules.
      for (const text of copy.querySelectorAll(".mark-text.role-mark text")) {
        text.setAttribute("style", "paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round");
      }
      picture.append(copy);
    }
    const colour = palette();
    const markup = new XMLSerializer().serializeToString(picture);
    return { width, height, markup: markup.replace(/var\((--[\w-]+)\)/g, (_, name) => colour(name)) };
  }

  async function bitmap({ width, height, markup }) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(markup)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width * SCALE, height * SCALE];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  }

  function offer(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // adth-s1a and "One-way delay over time": adth-s1a-one-way-delay-over-time.
  function name(figure) {
    const id = figure.closest(".study")?.querySelector(".id")?.textContent ?? "";
    const words = `${id} ${figure.querySelector("figcaption strong").textContent}`.match(/[\p{L}\p{N}]+/gu) ?? ["chart"];
    return words.join("-").toLowerCase().slice(0, 100);
  }

  function button(figure, format, make) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = format;
    made.setAttribute("aria-label", `Save as ${format}: ${figure.querySelector("figcaption strong").textContent}`);
    made.addEventListener("click", async () => offer(await make(compose(figure)), `${name(figure)}.${format.toLowerCase()}`));
    return made;
  }

  function offerAll() {
    for (const figure of document.querySelectorAll("figure")) if (figure.querySelector(".plot") && !figure.querySelector(".save")) offerFor(figure);
  }
  window.report.save = offerAll;
  offerAll();

  function offerFor(figure) {
    const line = document.createElement("p");
    line.className = "save";
    line.append("Save as ", button(figure, "SVG", (picture) => new Blob([picture.markup], { type: "image/svg+xml" })), " ");
    line.append(button(figure, "PNG", bitmap));
    figure.append(line);
  }
})();
