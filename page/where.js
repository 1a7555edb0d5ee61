// Where a place in a TOML text is: as much of the grammar as completion needs.

// Around a position: the path of the table that keys there belong to, the key if a value is due, and the word that is
// being typed with its beginning. `header`: within brackets that begin a table.
export function at(text, position) {
  const start = text.lastIndexOf("\n", position - 1) + 1;
  const word = /[\w"-]*$/.exec(text.slice(start, position))[0];
  const from = position - word.length;
  const opening = /^\s*\[\[?\s*([\w.-]*)$/.exec(text.slice(start, position));
  if (opening) {
    const path = opening[1].split(".").slice(0, -1);
    return { path, word, from, header: true };
  }
  let path = [], levels = [], key = [], due = false;
  // Strings and comments say nothing; the last header before the position begins the table.
  const tokens = /"""[^]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|#[^\n]*|^[ \t]*\[\[?([^\]\n]*)\]\]?|[\w-]+|[.={},\n[\]]/gm;
  for (const token of text.slice(0, from).matchAll(tokens)) {
    const [mark, header] = token;
    if (header !== undefined && !levels.length) {
      [path, key, due] = [header.split(".").map((part) => part.trim()), [], false];
    } else if (mark === "=") {
      due = true;
    } else if (mark === "{" || mark === "[") {
      levels.push({ path, key, mark });
      if (mark === "{") [path, key, due] = [[...path, ...key], [], false];
    } else if (mark === "}" || mark === "]") {
      const level = levels.pop();
      if (level) [path, key, due] = [level.path, level.key, true];
    } else if (mark === "," && levels.at(-1)?.mark === "[") {
      due = true;
    } else if (mark === "," || (mark === "\n" && !levels.length)) {
      [key, due] = [[], false];
    } else if (!due && /^[\w-]+$/.test(mark)) {
      key.push(mark);
    }
  }
  if (due) return { path: [...path, ...key.slice(0, -1)], key: key.at(-1), word, from };
  return { path: [...path, ...key], word, from };
}
