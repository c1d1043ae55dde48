/** Whether long lines of code are wrapped: one choice for all code on the page, which the browser remembers. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

const KEPT_AS = "turnwire.wrapCode";

const isWrapped = () => localStorage.getItem(KEPT_AS) === "yes";

/** The button in the head of a code block. */
export function wrapButton() {
  const label = t("Wrap lines");
  return h(
    "button",
    {
      type: "button",
      class: "icon-button wrap-lines",
      "aria-label": label,
      title: label,
      "aria-pressed": String(isWrapped()),
      onclick: toggle,
    },
    icon("wrap"),
  );
}

function toggle() {
  localStorage.setItem(KEPT_AS, isWrapped() ? "no" : "yes");
  show();
}

function show() {
  const wrapped = isWrapped();
  document.documentElement.classList.toggle("wrapped-code", wrapped);
  for (const button of document.querySelectorAll(".wrap-lines")) button.setAttribute("aria-pressed", String(wrapped));
}

// Chosen in another tab.
addEventListener("storage", ({ key }) => key === KEPT_AS && show());
show();
