/** Parts of the page that take dropped files, instead of the composer, which takes what no other element does. */

/**
 * While files are over the element it has the class `over`.
 * @param {HTMLElement} element @param {(files: File[]) => void} take @param {() => boolean} [mayTake]
 */
export function takeDrops(element, take, mayTake = () => true) {
  element.classList.add("takes-files");
  const over = (/** @type {DragEvent} */ event) => {
    if (!event.dataTransfer?.types.includes("Files") || !mayTake()) return;
    event.preventDefault();
    element.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") take([...event.dataTransfer.files]);
  };
  for (const type of /** @type {const} */ (["dragenter", "dragover", "dragleave", "drop"]))
    element.addEventListener(type, over);
}
