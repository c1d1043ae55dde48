/** Dialogs with fields: what the server refuses is said at its field, and the dialog stays. */

import { apiErrorText } from "../answer/status_texts.js";
import { dialog, open } from "./dialogs.js";
import { h } from "./element.js";
import { t } from "../i18n.js";

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
