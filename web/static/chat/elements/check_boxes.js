/** Groups of check boxes: several of a set of names. */

import { h } from "./element.js";

/** @param {Map<string, string>} names  value → what is shown @param {string[]} picked */
export function boxes(names, picked) {
  return [...names.keys()].map((value) => h("input", { type: "checkbox", value, checked: picked.includes(value) }));
}

/** @param {HTMLInputElement[]} inputs @returns {string[]} their values */
export const checked = (inputs) => inputs.filter((input) => input.checked).map(({ value }) => value);

/** @param {string} label @param {HTMLInputElement[]} inputs @param {Map<string, string>} names */
export function group(label, inputs, names) {
  const rows = inputs.map((input) => boxRow(input, names.get(input.value)));
  return h("fieldset", { class: "group" }, h("legend", {}, label), ...rows);
}

/** @param {HTMLInputElement} input @param {string} name */
export const boxRow = (input, name) => h("label", { class: "box" }, input, h("span", {}, name));
