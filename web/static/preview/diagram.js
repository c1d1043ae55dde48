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
    secure:
      "secure securityLevel startOnLoad maxTextSize maxEdges suppressErrorRendering htmlLabels fontFamily theme themeVariables themeCSS darkMode look layout".split(
        " ",
      ),
  };
  const THEMES = { light: "default", dark: "dark" };
  /** Of charts, in both themes: M. A. Petroff, "Accessible Color Sequences for Data Visualization" (arXiv:2107.02270), with ten colours. */
  const PALETTE = "#3f90da #ffa90e #bd1f01 #94a4a2 #832db6 #a96b59 #e76300 #b9ac70 #717581 #92dadd".split(" ");
  /** What has the colour of text in charts with axes. */
  const LETTERED =
    "titleColor dataLabelColor legendTextColor xAxisLabelColor xAxisTitleColor xAxisTickColor xAxisLineColor yAxisLabelColor yAxisTitleColor yAxisTickColor yAxisLineColor".split(
      " ",
    );
  /** How many colours themes name for slices and curves; then they begin anew. */
  const NAMED = 12;
  const GROUND = { light: "#ffffff", dark: "#1b1c1e" };
  const INK = { light: "#1f2226", dark: "#e9e8e5" };
  const LONGEST_MESSAGE = 1_000;
  const LONGEST_TITLE = 200;
  const { port1: port, port2: given } = new MessageChannel();

  /** The variables `name` and a number. @param {string} name @param {number} first its number */
  const numbered = (name, first) =>
    Object.fromEntries(Array.from({ length: NAMED }, (_, n) => [`${name}${n + first}`, PALETTE[n % PALETTE.length]]));

  /** Returns the variables of charts. Other diagrams share those of a radar's curves, and write on them. @param {string} source @param {"light"|"dark"} theme */
  function chartColours(source, theme) {
    const curves = /^\s*radar-beta\b/m.test(source) ? numbered("cScale", 0) : {};
    const letters = Object.fromEntries(LETTERED.map((part) => [part, INK[theme]]));
    const xyChart = { backgroundColor: GROUND[theme], plotColorPalette: PALETTE.join(), ...letters };
    return { pieOpacity: "1", pieSectionTextColor: INK[theme], ...numbered("pie", 1), xyChart, ...curves };
  }

  /** Numbers on slices are read on each of the colours, and curves through each other. @param {"light"|"dark"} theme */
  const chartStyle = (theme) =>
    `text.slice { paint-order: stroke; stroke: ${GROUND[theme]}; stroke-width: 3px; stroke-linejoin: round; }
    [class^=radarCurve-] { fill-opacity: 0.1 !important; }
    [class^=radarLegendBox-] { fill-opacity: 1 !important; }`;

  /** Returns the SVG and what its author calls it (`accTitle`). @param {string} source @param {"light"|"dark"} theme */
  async function draw(source, theme) {
    mermaid.initialize({
      ...OPTIONS,
      theme: THEMES[theme],
      themeCSS: chartStyle(theme),
      themeVariables: chartColours(source, theme),
    });
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
      const { svg: light, title } = await draw(source, "light");
      const { svg: dark } = await draw(source, "dark");
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
