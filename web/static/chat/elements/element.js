/**
 * Creates DOM elements in one expression (strings become text nodes; HTML cannot be passed), changes what differs in
 * them, and scrolls to them.
 */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [properties] `on…` adds a listener, `class` and names with a dash are attributes,
 *   the rest are properties
 * @param {...(Node|string|number|null|undefined|false)} children  null, undefined and false are skipped
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
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * Sets the properties that differ: the browser computes anew what it shows of an element that is given the same again.
 * @template {Element} T
 * @param {T} element
 * @param {Partial<T>} properties
 */
export function assign(element, properties) {
  for (const name of /** @type {(keyof T)[]} */ (Object.keys(properties)))
    if (element[name] !== properties[name]) element[name] = /** @type {T[keyof T]} */ (properties[name]);
}

/**
 * Makes `wanted` the children of `parent` with as few moves as possible, so that focus and scroll positions are kept.
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

/**
 * Scrolls to an element, and once more when its neighbours have their sizes: messages off the screen have an estimated one
 * (content-visibility) until they come near, and what grows above pushes the element down.
 * @param {Element} element @param {ScrollIntoViewOptions} [options]
 */
export function bringIntoSight(element, options) {
  element.scrollIntoView(options);
  // The first frame finds out what is near, and the second draws it.
  requestAnimationFrame(() => requestAnimationFrame(() => element.scrollIntoView(options)));
}
