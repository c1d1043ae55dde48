/**
 * Markdown from a model to DOM. The text is untrusted: raw HTML shows as text, pictures become links, and
 * everything passes DOMPurify before it reaches the page.
 *
 * Streaming text is lexed whole each time, and only blocks that changed are built again, so the cost of a frame
 * is that of the paragraph being written.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    html: ({ text, block }) => (block ? `<p>${escaped(text)}</p>` : escaped(text)),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
});

const purify = DOMPurify(window);
purify.setConfig({
  ALLOWED_TAGS: (
    "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i input li ol p pre s strong table tbody td th thead tr ul"
  ).split(" "),
  ALLOWED_ATTR: ["href", "title", "class", "align", "start", "type", "checked", "disabled"],
  // Every other attribute's value would have to look like an address.
  ADD_URI_SAFE_ATTR: ["align", "checked", "class", "disabled", "start", "title", "type"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
});
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName === "A" && node.hasAttribute("href")) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
  if (node.nodeName === "INPUT") node.setAttribute("disabled", "");
  if (node.nodeName === "INPUT" && node.getAttribute("type") !== "checkbox") node.remove();
});

/** Shows a growing text in an element. */
export class MarkdownView {
  /** @param {HTMLElement} element emptied and owned by this view */
  constructor(element) {
    this.element = element;
    /** @type {{key: string, nodes: ChildNode[]}[]} */
    this.blocks = [];
  }

  /** @param {string} text the whole text so far */
  show(text) {
    const tokens = marked.lexer(text);
    // A link definition further down changes what earlier blocks look like.
    const definitions = JSON.stringify(tokens.links);
    const keys = tokens.map((token) => token.type + definitions + token.raw);
    let same = 0;
    while (same < keys.length && this.blocks[same]?.key === keys[same]) same += 1;
    for (const block of this.blocks.splice(same)) block.nodes.forEach((node) => node.remove());
    for (let i = same; i < tokens.length; i += 1) {
      const nodes = [...rendered(tokens[i]).childNodes];
      this.element.append(...nodes);
      this.blocks.push({ key: keys[i], nodes });
    }
  }
}

/** @returns {DocumentFragment} */
function rendered(token) {
  return purify.sanitize(marked.parser([token]));
}

function escaped(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
