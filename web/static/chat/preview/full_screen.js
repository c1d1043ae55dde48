/** The button that shows an element on the whole screen; hidden where the browser cannot (iPhones). Escape ends it. */

import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";

/** @param {HTMLElement} element */
export function fullScreenButton(element) {
  const label = t("Full screen");
  const show = () => element.requestFullscreen().catch(() => {});
  return h(
    "button",
    {
      type: "button",
      class: "icon-button",
      hidden: !document.fullscreenEnabled,
      "aria-label": label,
      title: label,
      onclick: show,
    },
    icon("fullScreen"),
  );
}
