/** Puts a text on the clipboard, also where the page came by plain HTTP and the browser offers no clipboard. */

import { h } from "./element.js";

/** @param {string} text @returns {Promise<boolean>} whether it is there */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

/** @param {string} text */
function copiedBySelection(text) {
  const focused = document.activeElement;
  const field = h("textarea", { class: "unseen", value: text, "aria-hidden": "true" });
  (focused?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
