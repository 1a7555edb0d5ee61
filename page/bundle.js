// The libraries that the page uses, as one script.

import "./language.js";
export { default as uPlot } from "uplot";
export { closeCompletion, startCompletion } from "@codemirror/autocomplete";
export { editor } from "./editor.js";
export { at as where } from "./where.js";
