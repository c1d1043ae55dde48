/**
 * Sanitizes HTML rendered from a model's text: nothing that runs, loads or imitates the page. Tags and attributes
 * not listed here are dropped; links may only use http, https or mailto, images only files on this server.
 */

import DOMPurify from "dompurify";

import { t } from "../i18n.js";
import { ownImage } from "./safe_html.js";

const ADDRESS = /^(?:https?|mailto):/i;

const html = DOMPurify(window);
html.setConfig({
  ALLOWED_TAGS: (
    "a b blockquote br code del details div em h1 h2 h3 h4 h5 h6 hr i img input kbd li ol p pre s span strong sub summary sup table tbody td " +
    "th thead tr ul"
  ).split(" "),
  ALLOWED_ATTR: [
    "href",
    "title",
    "class",
    "align",
    "start",
    "type",
    "checked",
    "disabled",
    "alt",
    "loading",
    "decoding",
    "open",
  ],
  // Every other attribute's value would have to look like an address.
  ADD_URI_SAFE_ATTR: [
    "align",
    "alt",
    "checked",
    "class",
    "decoding",
    "disabled",
    "loading",
    "open",
    "start",
    "title",
    "type",
  ],
  ALLOWED_URI_REGEXP: ADDRESS,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
});
html.addHook("uponSanitizeAttribute", (node, data) => {
  if (node.nodeName === "IMG" && data.attrName === "src")
    data.forceKeepAttr = ownImage(data.attrValue, location.origin) !== null;
});
html.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName === "IMG" && !node.hasAttribute("src")) node.remove();
  if (node.nodeName === "A" && node.hasAttribute("href")) {
    // A link whose address is still being written has no href.
    if (!ADDRESS.test(node.getAttribute("href"))) node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  if (node.nodeName === "DIV" && node.className === "table") scrollable(node);
  if (node.nodeName === "INPUT") taskState(node);
});

/** Makes the frame of a wide table scrollable by keyboard. @param {Element} frame */
function scrollable(frame) {
  frame.setAttribute("tabindex", "0");
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", t("Table"));
}

/** Names the checkbox of a task by its state, and removes every other field. @param {Element} field */
function taskState(field) {
  field.setAttribute("disabled", "");
  field.setAttribute("aria-label", field.hasAttribute("checked") ? t("Done") : t("Not done"));
  if (field.getAttribute("type") !== "checkbox") field.remove();
}

/** @param {string} source @returns {DocumentFragment} */
export function sanitize(source) {
  return /** @type {any} */ (html.sanitize(source));
}

const MATHML =
  "math maction menclose merror mfrac mi mlabeledtr mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms " +
  "mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics";
const MATH_ATTRIBUTES =
  "accent accentunder class columnalign columnspan depth display displaystyle fence form height largeop linethickness " +
  "lspace mathbackground mathcolor mathvariant maxsize minsize movablelimits notation rowspan rspace scriptlevel " +
  "separator stretchy style symmetric voffset width";

const math = DOMPurify(window);
math.setConfig({
  ALLOWED_TAGS: MATHML.split(" "),
  ALLOWED_ATTR: MATH_ATTRIBUTES.split(" "),
  ADD_URI_SAFE_ATTR: MATH_ATTRIBUTES.split(" "),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  IN_PLACE: true,
});
// Colours and lengths; nothing that loads, covers or moves.
const STYLE =
  /^(?:\s*(?:color|background-color|padding[a-z-]*|border[a-z-]*|font-[a-z]+|math-[a-z]+|display|text-align|width|height|min-width|vertical-align|margin[a-z-]*)\s*:[\w\s.#%(),+-]*(?:;|$))*$/i;
math.addHook("uponSanitizeAttribute", (_node, data) => {
  if (data.attrName === "style" && (!STYLE.test(data.attrValue) || /url|\d{4}/i.test(data.attrValue)))
    data.keepAttr = false;
});

/** Cleans a tree that is not in the page, in place. @param {Element} root @returns {Element} the same element */
export function sanitizeMath(root) {
  math.sanitize(root);
  return root;
}
