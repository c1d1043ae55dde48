/** The list of what a user manages in a dialog: its rows, a button that creates one, and words as long as there is none. */

import { h } from "./element.js";
import { icon } from "./icons.js";

/** @import {IconName} from "./icons.js" */

/**
 * Shows the rows in `place`, and moves the focus to the first, or to the button.
 * @param {HTMLElement} place @param {HTMLElement[]} rows
 * @param {{symbol: IconName, none: string, create: string, onCreate: () => void, above?: HTMLElement|false}} options
 */
export function showRows(place, rows, { symbol, none, create, onCreate, above = false }) {
  const words = rows.length === 0 && h("p", { class: "none" }, icon(symbol), none);
  const button = h("button", { type: "button", class: "primary", onclick: onCreate }, icon("plus"), create);
  place.replaceChildren(
    h("div", { class: "sections" }, above, words, h("ul", { class: "rows" }, ...rows)),
    h("div", { class: "row" }, button),
  );
  (rows[0]?.querySelector("button") ?? button).focus();
}
