/** DOM elements in one expression. Text is always text: there is no way to pass HTML. */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties] `on…` adds a listener, `class` and names with a dash are attributes,
 *   the rest are properties
 * @param {...(Node|string|number|null|undefined|false)} children  those that are nothing are left out
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class" || name.includes("-")) element.setAttribute(name, value);
    else /** @type {any} */ (element)[name] = value;
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * Make `wanted` the children of `parent`, moving as little as possible, so that focus and scroll survive.
 * @param {Element} parent
 * @param {Element[]} wanted in order
 */
export function setChildren(parent, wanted) {
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] ?? null);
  });
}
