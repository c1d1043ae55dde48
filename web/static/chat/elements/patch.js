/**
 * Updates nodes of the page to match newly rendered ones. It changes only what differs, so that what the user has selected,
 * focused or scrolled is kept. Nodes are compared by position; a text that grew at its end is appended to.
 */

/**
 * @typedef {object} EmbeddedNodes  elements that draw themselves, see embedded_views.js
 * @property {(node: ChildNode) => ChildNode} adopt  prepares a newly rendered node for the page
 * @property {(old: ChildNode, fresh: ChildNode) => boolean} tryUpdate  shows in `old` what `fresh` contains; false if it cannot
 * @property {(node: ChildNode) => boolean} isEmbedded
 */

/**
 * @param {{parent: Element, nodes: ChildNode[], before: ChildNode|null}} where siblings in the parent, in order; new
 *   nodes are inserted before `before`
 * @param {ChildNode[]} fresh
 * @param {EmbeddedNodes} embedded
 * @returns {ChildNode[]} the nodes that are there now
 */
export function patchNodes({ parent, nodes, before }, fresh, embedded) {
  for (const node of nodes.slice(fresh.length)) node.remove();
  return fresh.map((node, i) => {
    if (i < nodes.length) return patchNode(nodes[i], node, embedded);
    return parent.insertBefore(embedded.adopt(node), before);
  });
}

/** @param {ChildNode} old @param {ChildNode} fresh @param {EmbeddedNodes} embedded @returns {ChildNode} */
function patchNode(old, fresh, embedded) {
  if (embedded.tryUpdate(old, fresh)) return old;
  if (old instanceof Text && fresh instanceof Text) return patchText(old, fresh.data);
  if (
    old instanceof Element &&
    fresh instanceof Element &&
    old.nodeName === fresh.nodeName &&
    ![old, fresh].some(embedded.isEmbedded)
  ) {
    patchAttributes(old, fresh);
    patchNodes({ parent: old, nodes: [...old.childNodes], before: null }, [...fresh.childNodes], embedded);
    return old;
  }
  const adopted = embedded.adopt(fresh);
  old.replaceWith(adopted);
  return adopted;
}

/** Appending keeps a selection that ends in the text. @param {Text} old @param {string} data */
function patchText(old, data) {
  if (data.startsWith(old.data)) {
    if (data.length > old.data.length) old.appendData(data.slice(old.data.length));
  } else {
    old.data = data;
  }
  return old;
}

/** Whether details are open is up to who reads them. @param {Element} old @param {Element} fresh */
function patchAttributes(old, fresh) {
  const isDetails = old.nodeName === "DETAILS";
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !(isDetails && name === "open")) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value && !(isDetails && name === "open")) old.setAttribute(name, value);
}
