/** A segmented control: a group of radio buttons side by side. */

import { h } from "./element.js";

/** @import {IconName} from "./icons.js" */

let groupCount = 0;

/**
 * @template {string} T
 * @param {string} label
 * @param {{value: T, label: string, icon?: SVGElement}[]} options
 * @param {T} chosen
 * @param {(value: T) => void} choose
 */
export function radioGroup(label, options, chosen, choose) {
  const name = `choice-${(groupCount += 1)}`;
  const rows = options.map(({ value, label: text, icon }) => {
    const button = h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => choose(value) });
    return h("label", {}, button, icon, h("span", {}, text));
  });
  return h("fieldset", { class: "choice" }, h("legend", {}, label), h("div", { class: "options" }, ...rows));
}
