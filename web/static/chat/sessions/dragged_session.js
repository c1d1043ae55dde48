/** Chats that are dragged with a mouse out of a list onto a project. With the keyboard, the menu of a chat moves it. */

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
