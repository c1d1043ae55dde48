/** Keys in the session list: arrows move, F2 renames, Delete deletes; the link handles Enter. */

/**
 * @param {HTMLElement} list its rows are `li[data-id]` with a link
 * @param {{rename: (id: string) => void, remove: (id: string) => void}} actions
 */
export function onListKeys(list, actions) {
  list.addEventListener("keydown", (event) => {
    const row = /** @type {HTMLElement} */ (event.target).closest("li");
    // A list may stand inside another, which goes on where the inner one ends.
    if (!row || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!act(event.key, row, list, actions)) return;
    event.preventDefault();
  });
}

/**
 * @param {string} key @param {HTMLElement} row @param {HTMLElement} list
 * @param {{rename: (id: string) => void, remove: (id: string) => void}} actions
 * @returns {boolean} whether the key was handled
 */
function act(key, row, list, actions) {
  // On the menu button, up and down open the menu.
  if (document.activeElement?.tagName === "BUTTON") return false;
  const links = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li a")]).filter(
    (link) => !link.closest("[hidden]"),
  );
  const at = links.indexOf(/** @type {any} */ (document.activeElement?.closest("a") ?? row.querySelector("a")));
  const next = { ArrowDown: links[at + 1], ArrowUp: links[at - 1], Home: links[0], End: links.at(-1) }[key];
  if (next) next.focus();
  else if (key === "F2") actions.rename(row.dataset.id);
  else if (key === "Delete") actions.remove(row.dataset.id);
  else return false;
  return true;
}
