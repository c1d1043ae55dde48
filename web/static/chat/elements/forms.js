/**
 * Forms: dialogs with fields, which stay and say at a field what the server refuses of it; groups of check boxes and of
 * radio buttons; and the list of what a user manages with such a dialog.
 */

import { apiErrorText } from "../answer/status_texts.js";
import { dialog, open } from "./dialogs.js";
import { h } from "./element.js";
import { t } from "../i18n.js";
import { icon } from "./icons.js";

/** @import {IconName} from "./icons.js" */

let fieldCount = 0;

/**
 * @typedef {object} Part  of a form
 * @property {HTMLElement} element
 * @property {HTMLElement} control  that is focused when its value is refused
 * @property {any} value
 * @property {(problem: string) => void} say  what is wrong with the value; empty: nothing
 */

/** A control with its label, a hint, and what is wrong with it. */
export class Field {
  /** @param {string} label @param {HTMLInputElement|HTMLTextAreaElement|HTMLSelectElement} control @param {string} [hint] */
  constructor(label, control, hint = "") {
    this.control = control;
    control.id = `form-field-${(fieldCount += 1)}`;
    this.hint = h("small", { class: "hint", id: `${control.id}-hint`, hidden: !hint }, hint);
    this.problem = h("small", { class: "field-problem", id: `${control.id}-problem`, role: "alert", hidden: true });
    control.setAttribute("aria-describedby", `${this.hint.id} ${this.problem.id}`);
    control.addEventListener("input", () => this.say(""));
    this.element = h(
      "div",
      { class: "field" },
      h("label", { htmlFor: control.id }, label),
      control,
      this.problem,
      this.hint,
    );
  }

  get value() {
    return this.control.value.trim();
  }

  /** @param {string} hint */
  explain(hint) {
    this.hint.textContent = hint;
    this.hint.hidden = !hint;
  }

  /** @param {string} problem empty: none */
  say(problem) {
    this.problem.textContent = problem;
    this.problem.hidden = !problem;
    if (problem) this.control.setAttribute("aria-invalid", "true");
    else this.control.removeAttribute("aria-invalid");
    if (problem) this.element.scrollIntoView({ block: "nearest" });
  }
}

/** @param {string} label @param {Record<string, any>} [properties] of the input @param {string} [hint] */
export const line = (label, properties = {}, hint = "") =>
  new Field(label, h("input", { type: "text", autocomplete: "off", ...properties }), hint);
/** @param {string} label @param {Record<string, any>} [properties] of the textarea @param {string} [hint] */
export const text = (label, properties = {}, hint = "") => new Field(label, h("textarea", properties), hint);

/** An action that is not begun again while it is under way, as by a second click. @template T @param {() => Promise<T>} action @returns {() => Promise<T>} */
export function oneAtATime(action) {
  /** @type {Promise<T>|null} */
  let running = null;
  return () => (running ??= action().finally(() => (running = null)));
}

/** @param {string} value of a textarea */
export const nonEmptyLines = (value) =>
  value
    .split("\n")
    .map((row) => row.trim())
    .filter(Boolean);

/**
 * @template {Record<string, Part>} Fields
 * @template Saved
 * @param {string} heading
 * @param {object} options
 * @param {string} options.yes
 * @param {Fields} options.fields  by the names of the body's members
 * @param {(values: {[name in keyof Fields]: Fields[name]["value"]}) => Promise<Saved>} options.save
 * @param {(error: any) => string} [options.words]  for what was refused
 * @param {string} [options.look]  a class of the dialog
 * @param {Node} [options.note]
 * @returns {Promise<Saved|null>} null: cancelled
 */
export function askFor(heading, { yes, fields, save, words = apiErrorText, look = "question", note }) {
  return new Promise((resolve) => {
    let saved = /** @type {Saved|null} */ (null);
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const submit = h("button", { type: "submit", class: "primary" }, yes);
    const cancel = h("button", { type: "button", onclick: () => element.close() }, t("Cancel"));
    const refused = (/** @type {any} */ error) => {
      const field = fields[nameOf(error, fields)];
      problem.hidden = Boolean(field);
      field?.control.focus();
      if (field) field.say(words(error));
      else problem.textContent = words(error);
    };
    const onsubmit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      submit.disabled = true;
      try {
        saved = await save(
          /** @type {any} */ (Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]))),
        );
        element.close();
      } catch (error) {
        refused(error);
      }
      submit.disabled = false;
    };
    const content = h(
      "div",
      { class: "sections fields" },
      ...(note ? [note] : []),
      ...Object.values(fields).map((field) => field.element),
    );
    const element = dialog(
      heading,
      { class: look, isKept: true, closed: () => resolve(saved) },
      h("form", { onsubmit }, content, problem, h("div", { class: "row" }, cancel, submit)),
    );
    open(element);
    Object.values(fields)[0].control.focus();
  });
}

/** The field that was refused, by its longest name; of a list, which of its members was may be said too. @param {any} error @param {Record<string, Part>} fields */
function nameOf({ field = "" }, fields) {
  const names = Object.keys(fields).filter((name) => field === name || field.startsWith(`${name}.`));
  return names.sort((one, other) => other.length - one.length)[0] ?? "";
}

/** @param {Map<string, string>} names  value → what is shown @param {string[]} picked */
export function boxes(names, picked) {
  return [...names.keys()].map((value) => h("input", { type: "checkbox", value, checked: picked.includes(value) }));
}

/** @param {HTMLInputElement[]} inputs @returns {string[]} their values */
export const checked = (inputs) => inputs.filter((input) => input.checked).map(({ value }) => value);

/** @param {string} label @param {HTMLInputElement[]} inputs @param {Map<string, string>} names */
export function group(label, inputs, names) {
  const rows = inputs.map((input) => boxRow(input, /** @type {string} */ (names.get(input.value))));
  return h("fieldset", { class: "group" }, h("legend", {}, label), ...rows);
}

/** @param {HTMLInputElement} input @param {string} name */
export const boxRow = (input, name) => h("label", { class: "box" }, input, h("span", {}, name));

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
