/** The tags of the open chat in the bar: each shows the chats that have it. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";

/** @param {HTMLElement} list @param {string[]} tags @param {(tag: string) => void} choose */
export function showTags(list, tags, choose) {
  list.hidden = tags.length === 0;
  if (list.dataset.tags === tags.join("\n")) return;
  list.dataset.tags = tags.join("\n");
  const chip = (/** @type {string} */ tag) =>
    h(
      "button",
      {
        type: "button",
        class: "tag",
        dir: "auto",
        title: t("Chats with the tag “%(tag)s”", { tag }),
        onclick: () => choose(tag),
      },
      tag,
    );
  list.replaceChildren(...tags.map((tag) => h("li", {}, chip(tag))));
}
