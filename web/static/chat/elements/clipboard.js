/** Copies a text to the clipboard, also on pages served by plain HTTP, where browsers offer no clipboard API. */

import { h } from "./element.js";

/** @param {string} text @returns {Promise<boolean>} whether it was copied */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** @param {string} text */
function copyBySelection(text) {
  const focused = document.activeElement;
  const field = h("textarea", { class: "unseen", value: text, "aria-hidden": "true" });
  (focused?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
