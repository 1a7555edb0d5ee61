// The address holds everything; the results are those of the command.

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
const unzipped = (id) => through(new DecompressionStream("gzip"), Uint8Array.from(atob(at(id).textContent), (char) => char.charCodeAt(0)));
async function packed() {
  const state = { v: 1, scene: scene?.file, toml: toml === scene?.toml ? undefined : toml, axis, picks, scheme, settings, moved, seed };
  const bytes = await through(new CompressionStream("deflate-raw"), JSON.stringify(state));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes)));
}

at("share").onclick = async () => {
  location.hash = await packed();
  try {
    await navigator.clipboard.writeText(location.href);
    at("verdict").textContent = "The address is in the clipboard and in the address bar.";
  } catch {
    at("verdict").textContent = "The address is in the address bar.";
  }
};
at("download").onclick = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([source.text], { type: "application/toml" }));
  link.download = "page.toml";
  link.click();
};

// FNV-1a of 64 bits over the results as text: the same as of the command's, recorded when the page was built.
function fingerprint(text) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
async function verify() {
  tell({ call: "pause" });
  const results = [];
  for (const one of scenes) {
    for (const [label, expected] of Object.entries(one.fingerprints)) {
      at("verdict").textContent = `${one.name}, ${label} ...`;
      const labels = [...Object.entries(one.case ?? {}), [one.axis ?? "scheme", label]];
      const checked = { toml: one.toml, set: [`duration=${one.checked}`], case: labels.map((pair) => pair.join("=")), seed: 1 };
      const { text } = await ask({ call: "whole", request: checked, text: true }, () => {});
      results.push(fingerprint(text ?? "") === expected);
    }
  }
  const right = results.filter(Boolean).length;
  at("verdict").textContent = `${right} of ${results.length} networks have the command's results, to the last byte.`;
  if (playing) run();
  return { right, of: results.length };
}
at("verify").onclick = verify;
