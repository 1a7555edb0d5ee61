// In the locale C.UTF-8 WebKitGTK tells "C" as the reader's language, and then refuses to format numbers in it, which uPlot
// asks for.

try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en" });
}
