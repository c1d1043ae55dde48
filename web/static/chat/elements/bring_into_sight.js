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
