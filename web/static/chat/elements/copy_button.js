/** A small button that copies a text and confirms it. */

import { copyText } from "./clipboard.js";
import { h } from "./element.js";
import { t } from "../i18n.js";
import { icon } from "./icons.js";

const SHOWN_MS = 2000;

/** @param {string} label @param {() => string} read the text to copy @param {import("./icons.js").IconName} [image] */
export function copyButton(label, read, image = "copy") {
  const button = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label }, icon(image));
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
