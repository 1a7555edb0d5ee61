// Runs an experiment anew with the reader's values, by the simulator in the page, and draws its charts again.
(() => {
  "use strict";
  const { page, set, quick } = JSON.parse(document.getElementById("simulator").textContent);
  const parts = new DOMParser().parseFromString(page, "text/html");
  const text = (id) => parts.getElementById(id).textContent;

  async function simulator() {
    const worker = new Worker(URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" })));
    const packed = Uint8Array.from(atob(text("wasm")), (char) => char.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const loaded = new Promise((done) => { worker.onmessage = done; });
    worker.postMessage({ id: 0, call: "load", bytes });
    await loaded;
    return worker;
  }

  function element(name, attributes, ...children) {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  }

  // A figure as it was before anything was drawn in it.
  function bare(figure) {
    const copy = figure.cloneNode(true);
    copy.querySelectorAll(".save").forEach((line) => line.remove());
    for (const plot of copy.querySelectorAll(".plot")) plot.replaceChildren();
    return copy.outerHTML;
  }

  function offer(section, number) {
    const scenario = [...section.querySelectorAll("details pre code")].at(-1).textContent;
    const figures = [...section.querySelectorAll("figure")];
    // In the order of the scenario's charts, of which the page shows the most important one first.
    const place = (figure) => Number(/^chart-\d+-(\d+)-/.exec(figure.querySelector(".plot")?.id ?? "")?.[1] ?? NaN);
    const keys = element("textarea", { rows: 3, spellcheck: false, value: set.join("\n"), placeholder: "queue.limit=50" });
    const seeds = element("input", { type: "number", min: 1, max: 30, value: 1 });
    const short = element("input", { type: "checkbox", checked: quick || /^\[quick\]/m.test(scenario) });
    const run = element("button", { type: "button", textContent: "Draw the charts anew" });
    const back = element("button", { type: "button", textContent: "As reported", hidden: true });
    const show = element("button", { type: "button", textContent: "Packet by packet" });
    const said = element("p", { className: "note", role: "status" });
    const box = element("div", { className: "trial" },
      element("p", {}, element("strong", { textContent: "And if it were otherwise? " }), "Keys of the scenario, one a line:"),
      element("label", {}, "Keys ", keys), element("label", {}, "Seeds ", seeds), element("label", {}, short, " short runs (quick)"),
      run, back, show, said);
    (figures.at(0) ?? section.firstElementChild).after(box);
    const reported = { figures: [], data: JSON.parse(document.getElementById("data").textContent) };
    reported.data.pictures = reported.data.pictures.filter(({ id }) => id.startsWith(`chart-${number}-`));
    let worker = null;

    async function replace({ figures: anew, data }, changed) {
      for (const figure of section.querySelectorAll("figure")) {
        const k = place(figure);
        if (!anew[k]) continue;
        const holder = element("template", { innerHTML: anew[k] });
        reported.figures[k] ??= bare(figure);
        figure.replaceWith(holder.content.firstElementChild);
      }
      back.hidden = !changed;
      await window.report.draw(data);
      window.report.save();
    }

    function stop(message) {
      worker?.terminate();
      worker = null;
      run.textContent = "Draw the charts anew";
      said.textContent = message;
    }

    run.addEventListener("click", async () => {
      if (worker) return stop("Stopped.");
      run.textContent = "Stop";
      said.textContent = "Reading the scenario ...";
      worker = await simulator();
      const wanted = keys.value.split("\n").map((line) => line.trim()).filter(Boolean);
      worker.onerror = (event) => stop(`The simulator failed: ${event.message}`);
      worker.onmessage = async ({ data }) => {
        if (data.refused) return stop(data.refused.error);
        if (data.share !== undefined) said.textContent = `${Math.round(100 * data.share)} % of ${data.of} runs`;
        if (!data.drawn) return;
        const runs = `${seeds.value} ${seeds.value === "1" ? "seed" : "seeds"}${short.checked ? ", short runs" : ""}`;
        await replace(data.drawn, true);
        stop(`The charts are of ${wanted.join("; ") || "the scenario as it is"}; ${runs}. Claims and tables are those reported.`);
      };
      worker.postMessage({ id: 1, call: "experiment", request: { toml: scenario, set: wanted, seeds: Number(seeds.value), quick: short.checked, number } });
    });
    back.addEventListener("click", () => {
      replace(reported, false);
      said.textContent = "";
    });
    show.addEventListener("click", () => {
      const given = JSON.stringify({ toml: scenario, set: keys.value.split("\n").map((line) => line.trim()).filter(Boolean) });
      const frame = element("iframe", { className: "simulator", title: "The network, packet by packet" });
      frame.srcdoc = page.replace("<body>", () => `<body><script id="given" type="application/json">${given.replaceAll("<", "\\u003c")}</scr` + "ipt>");
      show.replaceWith(frame);
    });
  }

  document.querySelectorAll("section.study").forEach(offer);
})();
