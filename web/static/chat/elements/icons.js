/**
 * The page's icons: strokes in a 24-unit box, in the colour of the text. They are hidden from screen readers: the
 * element that contains an icon has its own accessible name.
 */

import { h } from "./element.js";

const SVG = "http://www.w3.org/2000/svg";

export const PATHS = {
  agent: "M12 8V4 M9 4h6 M4 8h16v11H4z M2 13h2 M20 13h2 M9 12.5v2 M15 12.5v2",
  archive: "M3 4h18v5H3z M5 9v11h14V9 M10 13h4",
  arrowDown: "M12 4v15 M5.5 12.5L12 19l6.5-6.5",
  attach: "M20 11.5l-8.4 8.4a5.4 5.4 0 0 1-7.6-7.6l8.7-8.7a3.6 3.6 0 0 1 5.1 5.1l-8.7 8.7a1.8 1.8 0 0 1-2.6-2.6l8-8",
  branch: "M6 3v12 M18 9a9 9 0 0 1-9 9 M6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6z M18 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  check: "M4.5 12.5l5 5L19.5 7",
  chevronDown: "M6 9l6 6 6-6",
  chevronLeft: "M15 6l-6 6 6 6",
  chevronRight: "M9 6l6 6-6 6",
  chevronUp: "M6 15l6-6 6 6",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M12 7v5l3.5 2",
  close: "M6 6l12 12 M18 6L6 18",
  collapse: "M4 12h16 M12 2v6 M9 5.5l3 3 3-3 M12 22v-6 M9 18.5l3-3 3 3",
  collapseLeft: "M4 4h16v16H4z M9 4v16 M16 9.5L13.5 12l2.5 2.5",
  columns: "M4 4h16v16H4z M12 4v16",
  copy: "M9 9h11v11H9z M5 15H4V4h11v1",
  download: "M12 4v11 M7.5 11l4.5 4.5L16.5 11 M4 20h16",
  edit: "M4 20h4L19.5 8.5a2.1 2.1 0 0 0-3-3L5 17z M14.5 7.5l3 3",
  external: "M14 4h6v6 M20 4l-9 9 M18 14v6H4V6h6",
  file: "M6 3h8l4 4v14H6z M14 3v4h4 M9 12h6 M9 16h6",
  folder: "M3.5 6v13h17V8.500h-9L9 6z",
  fullScreen: "M9 4H4v5 M15 4h5v5 M9 20H4v-5 M15 20h5v-5",
  gear: "M12 15.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4z M19.4 13.5a7.7 7.7 0 0 0 0-3l2-1.6-2-3.4-2.4 1a7.6 7.6 0 0 0-2.6-1.5L14 2.5h-4L9.6 5A7.6 7.6 0 0 0 7 6.5l-2.4-1-2 3.4 2 1.6a7.7 7.7 0 0 0 0 3l-2 1.6 2 3.4 2.4-1A7.6 7.6 0 0 0 9.6 19l.4 2.5h4l.4-2.5a7.6 7.6 0 0 0 2.6-1.5l2.4 1 2-3.4z",
  globe:
    "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M3 12h18 M12 3c2.5 2.5 3.8 5.6 3.8 9s-1.3 6.5-3.8 9c-2.5-2.5-3.8-5.6-3.8-9s1.3-6.5 3.8-9z",
  image: "M4 4h16v16H4z M4 17l5-5 4 4 3-3 4 4 M15 10a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z M12 11v5.5 M12 7.5v.1",
  key: "M8 20a5 5 0 1 0 0-10 5 5 0 0 0 0 10z M11.5 11.5L20 3 M16 7l3 3",
  keyboard: "M3 6h18v12H3z M7 10h.01 M11 10h.01 M15 10h.01 M18 10h.01 M8 14.500h8",
  link: "M10 14a4 4 0 0 0 5.7 0l3.6-3.6a4 4 0 0 0-5.7-5.7L12 6.3 M14 10a4 4 0 0 0-5.7 0l-3.6 3.6a4 4 0 0 0 5.7 5.7l1.6-1.6",
  logout: "M10 4H4v16h6 M9 12h11 M16 8l4 4-4 4",
  menu: "M4 7h16 M4 12h16 M4 17h16",
  mic: "M12 14a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3z M6 11a6 6 0 0 0 12 0 M12 17v4",
  model: "M12 3l8 4.5v9L12 21l-8-4.5v-9z M4 7.5l8 4.5 8-4.5 M12 12v9",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  more: "M5 11.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6z M12 11.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6z M19 11.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6z",
  newChat: "M12 4H4v16h16v-8 M10 14l1-3.5L19 2.6a1.7 1.7 0 0 1 2.4 2.4L13.5 13z",
  offline:
    "M3 3l18 18 M5 12.5a10 10 0 0 1 4-2.4 M14.5 10a10 10 0 0 1 4.5 2.5 M8.5 16a5 5 0 0 1 7 0 M12 19.5h.01 M2 9a15 15 0 0 1 4-2.6 M11 5a15 15 0 0 1 11 4",
  pin: "M9 3.500h6 M10 3.500l-.5 6.500L7 13v2h10v-2l-2.500-3-.5-6.500 M12 15v6",
  play: "M7 4.500v15l12-7.500z",
  plus: "M12 5v14 M5 12h14",
  retry: "M20 11a8 8 0 1 0-2.3 6.3 M20 4v7h-7",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14z M16 16l4.5 4.5",
  send: "M12 20V5 M5.5 11.5L12 5l6.5 6.5",
  settings:
    "M4 7h9 M17 7h3 M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z M4 17h3 M11 17h9 M9 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  share: "M12 15V3.5 M7.5 8L12 3.5 16.5 8 M5 12v8h14v-8",
  shield: "M12 3l8 3v6c0 4.5-3.2 7.8-8 9-4.8-1.2-8-4.5-8-9V6z",
  source: "M4 5a3 3 0 0 1 3-2h13v15H7a3 3 0 0 0-3 2z M4 20a3 3 0 0 0 3 1h13v-3",
  speaker: "M4 9.500v5h3.500L12 18.500v-13L7.500 9.500z M15.500 9a4.2 4.2 0 0 1 0 6 M18 6.500a8 8 0 0 1 0 11",
  stop: "M7 7h10v10H7z",
  summary: "M4 6h16 M4 10h16 M4 14h9 M4 18h6",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8z M12 2v2 M12 20v2 M2 12h2 M20 12h2 M4.9 4.9l1.4 1.4 M17.7 17.7l1.4 1.4 M4.9 19.1l1.4-1.4 M17.7 6.3l1.4-1.4",
  table: "M4 4h16v16H4z M4 10h16 M4 15h16 M10 4v16",
  tag: "M3.500 12.500V3.500h9l8 8-9 9z M7.500 7.500h.01",
  thought: "M9 18h6 M10 21h4 M8.5 15.5a6.5 6.5 0 1 1 7 0c-.6.5-.5 1-.5 2.5H9c0-1.5.1-2-.5-2.500z",
  thumbDown: "M7 14V3H4v11z M7 13l4 8a2.5 2.5 0 0 0 2.5-2.500V15h5a2 2 0 0 0 2-2.400l-1.5-7.600a2 2 0 0 0-2-2H7",
  thumbUp: "M7 10v11H4V10z M7 11l4-8a2.5 2.5 0 0 1 2.5 2.500V9h5a2 2 0 0 1 2 2.400l-1.5 7.600a2 2 0 0 1-2 2H7",
  tool: "M14.5 6.500a4.5 4.5 0 0 0-6 5.600L3 17.600V21h3.400l5.5-5.500a4.5 4.5 0 0 0 5.6-6l-3 3-2.5-.5-.5-2.500z",
  trash: "M4 7h16 M9 7V4h6v3 M6 7l1 13h10l1-13 M10 11v6 M14 11v6",
  tree: "M12 3v6 M12 9H6v4 M12 9h6v4 M6 17.500a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.400z M18 17.500a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.400z",
  upload: "M12 20V9 M7.5 13L12 8.5 16.5 13 M4 4h16",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z M4.5 20.500a7.5 7.5 0 0 1 15 0",
  warning: "M12 4L2.5 20h19z M12 10v4.5 M12 17v.1",
  wrap: "M4 6h16 M4 18h4 M4 12h12.500a3 3 0 0 1 0 6H12 M14.500 15.500L12 18l2.500 2.500",
};

/** @typedef {keyof typeof PATHS} IconName */

/** Those that point along the line: they are mirrored where lines begin at the right. @type {Set<IconName>} */
const DIRECTED = new Set(["chevronLeft", "chevronRight", "collapseLeft", "external", "logout", "speaker"]);

/**
 * @param {IconName} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", DIRECTED.has(name) ? "icon directed" : "icon");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * A button that shows an icon alone: the label is read aloud, and shown on hover.
 * @param {string} label @param {IconName} name @param {(event: MouseEvent) => unknown} [onclick] @param {Record<string, any>} [more] properties
 */
export const iconButton = (label, name, onclick, more) =>
  h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...more },
    icon(name),
  );

/** `data-icon` names the icon; a control without text shows its label on hover. @param {ParentNode} place */
export function decorate(place) {
  for (const control of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-icon]"))) {
    control.prepend(icon(/** @type {IconName} */ (control.dataset.icon)));
    if (!control.textContent?.trim()) control.title = control.getAttribute("aria-label") ?? "";
  }
}
