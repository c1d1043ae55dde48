/** A small button that copies a text and confirms it. */

import { h } from "./element.js";
import { t } from "../i18n.js";
import { icon, iconButton } from "./icons.js";

const SHOWN_MS = 2000;

/** @param {string} label @param {() => string} read the text to copy @param {import("./icons.js").IconName} [image] */
export function copyButton(label, read, image = "copy") {
  const button = iconButton(label, image);
  let timer = 0;
  /** @param {import("./icons.js").IconName} name @param {string} says */
  const look = (name, says) => {
    button.replaceChildren(icon(name));
    button.setAttribute("aria-label", says);
    button.title = says;
  };
  button.addEventListener("click", async () => {
    const isCopied = await copyText(read());
    clearTimeout(timer);
    if (isCopied) look("check", t("Copied"));
    else look("warning", t("Could not be copied"));
    timer = setTimeout(() => look(image, label), SHOWN_MS);
  });
  return button;
}

// Copies a text to the clipboard, also on pages served by plain HTTP, where browsers offer no clipboard API.

/** @param {string} text @returns {Promise<boolean>} whether it was copied */
async function copyText(text) {
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
