/** Runs in the frame that draws diagrams: receives their source from the page and returns them as SVG, for light and dark pages. */

(() => {
  if (window.parent === window) return;

  /** @type {{initialize(options: object): void, render(id: string, source: string): Promise<{svg: string}>}|undefined} */
  const mermaid = /** @type {any} */ (globalThis).mermaid;
  const OPTIONS = {
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    deterministicIds: true,
    // HTML inside of an SVG is drawn differently by each browser.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    fontFamily: "sans-serif",
    maxTextSize: 50_000,
    // What a source may not change.
    secure: "secure securityLevel startOnLoad maxTextSize maxEdges suppressErrorRendering htmlLabels fontFamily theme themeVariables themeCSS darkMode look layout".split(" "),
  };
  const THEMES = { light: "default", dark: "dark" };
  const LONGEST_MESSAGE = 1_000;
  const LONGEST_TITLE = 200;
  const { port1: port, port2: given } = new MessageChannel();

  /** Returns the SVG and what its author calls it (`accTitle`). @param {string} source @param {string} theme */
  async function draw(source, theme) {
    mermaid.initialize({ ...OPTIONS, theme });
    const { svg } = await mermaid.render("diagram", source);
    const place = document.createElement("div");
    place.innerHTML = svg;
    const drawing = /** @type {SVGSVGElement} */ (place.querySelector("svg"));
    const title = (drawing.querySelector(":scope > title")?.textContent.trim() ?? "").slice(0, LONGEST_TITLE);
    return { svg: sized(drawing), title };
  }

  /** Returns it as XML, in the size in which it was drawn: as a picture it has none other. @param {SVGSVGElement} svg */
  function sized(svg) {
    const { width, height } = svg.viewBox.baseVal;
    svg.setAttribute("width", String(Math.ceil(width)));
    svg.setAttribute("height", String(Math.ceil(height)));
    svg.style.removeProperty("max-width");
    return new XMLSerializer().serializeToString(svg);
  }

  /** @param {string} source */
  async function drawn(source) {
    if (!mermaid) return { problem: "load" };
    try {
      const { svg: light, title } = await draw(source, THEMES.light);
      const { svg: dark } = await draw(source, THEMES.dark);
      return { light, dark, title };
    } catch (error) {
      return { problem: "source", message: String(error?.message ?? error).slice(0, LONGEST_MESSAGE) };
    }
  }

  port.onmessage = async ({ data }) => {
    if (data.kind === "ping") port.postMessage({ kind: "pong" });
    if (data.kind === "draw") port.postMessage({ kind: "drawn", ...(await drawn(data.source)) });
  };
  // To any origin, since the page's is not known here, and nothing is told.
  window.parent.postMessage({ kind: "ready" }, "*", [given]);
})();
