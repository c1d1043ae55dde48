/** The arguments of a call as people read them: a table of names and values, with one inside it for each nested value. */

import { h } from "../elements/element.js";
import { shown } from "../elements/visible_text.js";
import { t } from "../i18n.js";

/** @param {Record<string, any>} given @returns {HTMLElement} */
export function argumentsTable(given) {
  const rows = Object.entries(given).map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, shown(name)), h("td", {}, valueNode(value))));
  return rows.length === 0 ? h("p", { class: "none" }, t("Without arguments")) : h("table", { class: "arguments" }, h("tbody", {}, ...rows));
}

/** @param {any} value @returns {HTMLElement} */
function valueNode(value) {
  if (Array.isArray(value) && value.length > 0) return h("ul", {}, ...value.map((one) => h("li", {}, valueNode(one))));
  if (isObject(value) && Object.keys(value).length > 0) return argumentsTable(value);
  return typeof value === "string" && value ? shown(value) : h("code", {}, JSON.stringify(value));
}

/** An integer that is too long for a number is an object of its own class. @param {any} value */
const isObject = (value) => value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
