/** Shows what a tool call asks the user: a form, which is answered or declined. */

import { apiErrorText } from "../answer/status_texts.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { shown, visibleText } from "../elements/visible_text.js";
import { t } from "../i18n.js";
import { DecisionCard, button } from "./decision_card.js";
import { isOfServer, nameOf } from "../tools/tool_texts.js";
import { autosize } from "../elements/text_field.js";

/** @import {Form, ToolCall, Asked} from "../types.js" */
/** @import {ApiError} from "../server/api.js" */

export class QuestionCard extends DecisionCard {
  /** @param {ToolCall & {question: QuestionAnswer}} call */
  constructor({ row, name, question }) {
    super(
      row,
      button(t("Do not answer"), () => this.decide({ approved: false, ...this.noted }, t("Not answered"))),
      h("button", { type: "submit", class: "small primary" }, t("Answer")),
    );
    this.fields = new FormFields(/** @type {Form} */ (question.form));
    const title = isOfServer(name)
      ? t("%(name)s asks you", { name: visibleText(nameOf(name)) })
      : t("The model asks you");
    const form = h(
      "form",
      { onsubmit: (/** @type {SubmitEvent} */ event) => this.#answer(event) },
      ...this.fields.elements,
      this.note,
      this.problem,
      this.buttons,
    );
    this.element = h(
      "section",
      { class: "question-card", "aria-label": title },
      h("p", { class: "title" }, icon("user"), title),
      h("p", { class: "message", dir: "auto" }, shown(question.message)),
      form,
      this.said,
    );
  }

  /** @param {SubmitEvent} event */
  #answer(event) {
    event.preventDefault();
    return this.decide({ approved: true, values: this.fields.values(), ...this.noted }, t("Answered"));
  }

  /** @param {ApprovalBody} decision @param {string} said */
  decide(decision, said) {
    this.fields.complain("", "");
    return super.decide(decision, said);
  }

  /** @param {boolean} isDisabled */
  disable(isDisabled) {
    super.disable(isDisabled);
    this.fields.disable(isDisabled);
  }

  /** The server says what does not fit. @param {ApiError} error */
  refused(error) {
    const isOfField =
      error.code === "answer_invalid" &&
      this.fields.complain(String(error.field).replace(/^values\./, ""), `${apiErrorText(error)} ${error.message}`);
    if (!isOfField) super.refused(error);
  }
}

/** More are a list to pick from. */
const MOST_RADIOS = 6;
const INPUT_TYPES = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };

let fieldCount = 0;

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {(HTMLInputElement|HTMLTextAreaElement|HTMLSelectElement)[]} controls  the first is focused
 * @property {() => any} read  undefined: not answered
 */

/**
 * The fields of a form, which is a JSON Schema of an object with primitive properties, and the values entered in them.
 */
class FormFields {
  /** @param {Form} form */
  constructor({ properties, required = [] }) {
    /** @type {Map<string, ShownField>} by name */
    this.fields = new Map(
      Object.entries(properties).map(([name, asked]) => [name, new ShownField(name, asked, required.includes(name))]),
    );
    this.elements = [...this.fields.values()].map(({ element }) => element);
  }

  values() {
    const entered = [...this.fields].map(([name, { field }]) => /** @type {const} */ ([name, field.read()]));
    return Object.fromEntries(entered.filter(([, value]) => value !== undefined));
  }

  /** Shows what is wrong with a field, and focuses it. @param {string} name @param {string} text @returns {boolean} whether there is such a field */
  complain(name, text) {
    for (const field of this.fields.values()) field.complain("");
    this.fields.get(name)?.complain(text);
    return this.fields.has(name);
  }

  /** @param {boolean} isDisabled */
  disable(isDisabled) {
    for (const { field } of this.fields.values()) for (const control of field.controls) control.disabled = isDisabled;
  }
}

class ShownField {
  /** @param {string} name @param {Asked} asked @param {boolean} isRequired */
  constructor(name, asked, isRequired) {
    const id = `asked-${(fieldCount += 1)}`;
    const title = asked.title || name;
    const label = isRequired ? title : t("%(label)s (optional)", { label: title });
    this.field = fieldOf(id, label, asked, isRequired);
    const hints = [asked.description, hiddenIn(asked.default)].filter((hint) => hint !== undefined);
    this.hint = h(
      "small",
      { id: `${id}-hint`, dir: "auto", hidden: hints.length === 0 },
      ...hints.map((hint) => h("div", {}, shown(hint))),
    );
    this.problem = h("small", { id: `${id}-problem`, class: "field-problem", role: "alert" });
    this.element = h("div", { class: "field" }, this.field.element, this.hint, this.problem);
    const described = [!this.hint.hidden && this.hint.id, this.problem.id].filter(Boolean).join(" ");
    for (const control of this.field.controls) control.setAttribute("aria-describedby", described);
  }

  /** @param {string} text  empty: nothing is wrong */
  complain(text) {
    this.problem.textContent = text;
    for (const control of this.field.controls) control.ariaInvalid = text ? "true" : null;
    if (text) this.field.controls[0].focus();
  }
}

/** @param {string} id @param {string} label @param {Asked} asked @param {boolean} isRequired @returns {Field} */
function fieldOf(id, label, asked, isRequired) {
  if (asked.type === "array") return boxes(label, optionsOf(asked.items ?? {}), asked, isRequired);
  if (asked.type === "boolean") {
    const field = radios(
      id,
      label,
      [
        ["true", t("Yes")],
        ["false", t("No")],
      ],
      asked.default === undefined ? undefined : String(asked.default),
      isRequired,
    );
    return { ...field, read: () => (field.read() === undefined ? undefined : field.read() === "true") };
  }
  const options = optionsOf(asked);
  if (options.length > MOST_RADIOS) return list(id, label, options, asked, isRequired);
  return options.length ? radios(id, label, options, asked.default, isRequired) : entry(id, label, asked, isRequired);
}

/** What a field that is filled in does not show; undefined: it shows all. @param {any} value */
function hiddenIn(value) {
  return typeof value === "string" && visibleText(value) !== value
    ? t("Filled in: %(text)s", { text: value })
    : undefined;
}

/** @param {Partial<Asked>} asked @returns {[string, string][]} value and what is shown */
function optionsOf({ enum: values, enumNames = [], oneOf, anyOf }) {
  const titled = oneOf ?? anyOf;
  if (titled) return titled.map(({ const: value, title }) => [value, title || value]);
  return (values ?? []).map((value, i) => [value, enumNames[i] || value]);
}

/** A field to write in. @param {string} id @param {string} label @param {Asked} asked @param {boolean} required @returns {Field} */
function entry(id, label, asked, required) {
  const input = asked.type === "string" ? textInput(asked) : numberInput(asked);
  Object.assign(input, { id, required });
  if (asked.default !== undefined)
    input.value = asked.format === "date-time" ? localTime(String(asked.default)) : String(asked.default);
  return { element: labelled(id, label, input), controls: [input], read: () => readEntry(input, asked) };
}

/** @param {Asked} asked */
function textInput({ format, minLength, maxLength }) {
  const input = format ? h("input", { type: INPUT_TYPES[format] }) : h("textarea", { rows: 1, dir: "auto" });
  if (minLength !== undefined) input.setAttribute("minlength", String(minLength));
  if (maxLength !== undefined) input.setAttribute("maxlength", String(maxLength));
  if (input instanceof HTMLTextAreaElement) autosize(input);
  return input;
}

/** @param {Asked} asked */
function numberInput({ type, minimum, maximum }) {
  return h("input", {
    type: "number",
    step: type === "integer" ? "1" : "any",
    min: String(minimum ?? ""),
    max: String(maximum ?? ""),
  });
}

/** @param {HTMLInputElement|HTMLTextAreaElement} input @param {Asked} asked */
function readEntry(input, { type, format }) {
  if (input.value.trim() === "") return undefined;
  if (type !== "string") return Number(input.value);
  return format === "date-time" ? new Date(input.value).toISOString() : input.value;
}

/** As an input of local times takes it. @param {string} text  with a time zone */
function localTime(text) {
  const at = new Date(text);
  return Number.isNaN(at.valueOf())
    ? ""
    : new Date(at.valueOf() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @param {string} id @param {string} label @param {[string, string][]} options @param {Asked} asked @param {boolean} required @returns {Field} */
function list(id, label, options, asked, required) {
  const rows = [["", ""], ...options].map(([value, text]) =>
    h("option", { value, selected: value === asked.default }, visibleText(text)),
  );
  const select = h("select", { id, required }, ...rows);
  return { element: labelled(id, label, select), controls: [select], read: () => select.value || undefined };
}

/** @param {string} id @param {string} label @param {[string, string][]} options @param {any} chosen @param {boolean} required @returns {Field} */
function radios(id, label, options, chosen, required) {
  const controls = options.map(([value]) =>
    h("input", { type: "radio", name: id, value, required, checked: value === chosen }),
  );
  return {
    element: group(label, controls, options),
    controls,
    read: () => controls.find(({ checked }) => checked)?.value,
  };
}

/** @param {string} label @param {[string, string][]} options @param {Asked} asked @param {boolean} isRequired @returns {Field} */
function boxes(label, options, asked, isRequired) {
  const controls = options.map(([value]) =>
    h("input", { type: "checkbox", value, checked: asked.default?.includes(value) ?? false }),
  );
  const read = () => controls.filter(({ checked }) => checked).map(({ value }) => value);
  const least = isRequired ? (asked.minItems ?? 0) : 0;
  // Of several boxes the browser knows no minimum.
  const check = () =>
    controls[0].setCustomValidity(read().length < least ? t("Choose at least %(count)s.", { count: least }) : "");
  for (const control of controls) control.addEventListener("change", check);
  check();
  return {
    element: group(label, controls, options),
    controls,
    read: () => (isRequired || read().length ? read() : undefined),
  };
}

/** @param {string} id @param {string} label @param {HTMLElement} control */
const labelled = (id, label, control) => h("div", {}, h("label", { htmlFor: id, dir: "auto" }, shown(label)), control);

/** @param {string} label @param {HTMLInputElement[]} controls @param {[string, string][]} options */
function group(label, controls, options) {
  const rows = controls.map((control, i) =>
    h("label", { class: "box", dir: "auto" }, control, h("span", {}, shown(options[i][1]))),
  );
  return h("fieldset", { class: "group" }, h("legend", { dir: "auto" }, shown(label)), ...rows);
}
