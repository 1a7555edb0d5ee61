// The editor of a scenario: keys and values are completed from the schema, and a fault stands at its line. Bundled by build.py.

import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { at } from "./where.js";

// Colours are those of the page, light or dark.
const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--quiet)" },
  { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--data-text)" },
  { tag: tags.propertyName, color: "var(--ink)" },
]);
const theme = EditorView.theme({
  "&": { height: "340px", fontSize: "13px", border: "1px solid var(--line)", borderRadius: "6px", backgroundColor: "var(--soft)" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--quiet)", border: "none" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--line)", maxWidth: "90vw" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--line) !important" },
});

// Follows references, and leaves out that a value may be missing.
function resolved(schema, node) {
  while (node?.$ref || node?.anyOf) {
    node = node.$ref ? schema.$defs[node.$ref.split("/").pop()] : node.anyOf.find((one) => one.type !== "null");
  }
  return node?.type === "array" && node.items ? resolved(schema, node.items) : node;
}

// The keys of the table at a path; tables of an array are one to the schema.
function table(schema, path) {
  let node = schema;
  for (const key of path) node = resolved(schema, node?.properties?.[key]);
  return node?.oneOf ? { properties: Object.assign({}, ...node.oneOf.map((one) => resolved(schema, one)?.properties)) } : node;
}

function values(schema, node) {
  const all = [node, ...node?.oneOf ?? [], ...node?.anyOf ?? []].map((one) => resolved(schema, one));
  return [...new Set(all.flatMap((one) => one?.enum ?? (one?.const === undefined ? [] : [one.const])))];
}

const keyName = (key) => ({ label: key, type: "property", apply: `${key} = ` });

function complete(schema) {
  return (context) => {
    const { path, key, word, from, header } = at(context.state.doc.toString(), context.pos);
    if (!word && !context.explicit) return null;
    const properties = table(schema, path)?.properties ?? {};
    if (key !== undefined) {
      const options = values(schema, resolved(schema, properties[key])).map((value) => ({ label: JSON.stringify(value), type: "constant" }));
      return options.length ? { from, options } : null;
    }
    const options = Object.entries(properties).map(([name, { description }]) => ({
      ...keyName(name), info: description?.split("\n").join(" "), ...(header ? { apply: name } : {}),
    }));
    return { from, options, validFor: /^\w*$/ };
  };
}

// An editor in a place of the page. `changed` is called with the text after each edit of the reader's.
export function editor(place, schema, changed) {
  let told = true;
  const view = new EditorView({
    parent: place,
    state: EditorState.create({
      extensions: [
        lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), lintGutter(), theme,
        StreamLanguage.define(toml), syntaxHighlighting(colours), autocompletion({ override: [complete(schema)] }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Scenario in TOML", spellcheck: "false" }),
        EditorView.updateListener.of((update) => { if (update.docChanged && told) changed(update.state.doc.toString()); }),
      ],
    }),
  });
  return {
    view,
    get text() { return view.state.doc.toString(); },
    set text(text) {
      told = false;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      told = true;
    },
    // Shows a fault at its line and column, counted from 1, or none.
    fault(message, position) {
      const { doc } = view.state;
      const line = position && position[0] <= doc.lines ? doc.line(position[0]) : null;
      const from = line ? Math.min(line.from + position[1] - 1, line.to) : 0;
      view.dispatch(setDiagnostics(view.state, message && line ? [{ from, to: Math.max(line.to, from), severity: "error", message }] : []));
    },
  };
}
