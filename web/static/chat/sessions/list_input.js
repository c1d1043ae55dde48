/**
 * What keys and the mouse do in lists of chats: arrows move, F2 renames, Delete deletes (the link handles Enter), and a
 * chat is dragged onto a project. With the keyboard, the menu of a chat moves it.
 */

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

/** Of a drag within this page: other places read the link. */
const TYPE = "application/x-turnwire-session";

/** Makes the links of a list name their chat when they are dragged. @param {HTMLElement} list its rows are `li[data-id]` with a link */
export function markDragged(list) {
  list.addEventListener("dragstart", (event) => {
    const id = /** @type {HTMLElement} */ (event.target).closest?.("li")?.dataset.id;
    if (!id || !event.dataTransfer) return;
    event.dataTransfer.setData(TYPE, id);
    event.dataTransfer.effectAllowed = "copyMove";
  });
}

/** Lets chats be dropped on an element; it has the class `over` meanwhile. @param {HTMLElement} element @param {(session: string) => void} dropped */
export function onDroppedSession(element, dropped) {
  for (const type of /** @type {const} */ (["dragenter", "dragover", "dragleave", "drop"])) {
    element.addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes(TYPE)) return;
      // Files are taken elsewhere on the page.
      event.preventDefault();
      event.stopPropagation();
      event.dataTransfer.dropEffect = "move";
      const isInside = type === "dragleave" && element.contains(/** @type {Node|null} */ (event.relatedTarget));
      if (!isInside) element.classList.toggle("over", type === "dragenter" || type === "dragover");
      if (type === "drop") dropped(event.dataTransfer.getData(TYPE));
    });
  }
}
