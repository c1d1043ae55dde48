/** Native dialogs: a general one, a question with yes or no, and a question for a title. */

import { h } from "./element.js";
import { iconButton } from "./icons.js";
import { shown } from "./visible_text.js";
import { t } from "../i18n.js";

/**
 * Creates a closed dialog with a heading and a close button. It is removed from the page once it is closed.
 * @param {string} heading
 * @param {{class?: string, closed?: () => void, isKept?: boolean}} [options] isKept: a click beside it does not close it
 * @param {...(Node|string|false|null)} content
 */
export function dialog(heading, options = {}, ...content) {
  const away = iconButton(t("Close"), "close", () => element.requestClose());
  const title = h("h2", { id: `dialog-${(dialogCount += 1)}` }, shown(heading));
  /** @type {HTMLDialogElement} */
  const element = h(
    "dialog",
    { class: options.class ?? "", "aria-labelledby": title.id },
    h("div", { class: "dialog-head" }, title, away),
    ...content,
  );
  element.setAttribute("closedby", options.isKept ? "closerequest" : "any");
  element.addEventListener("close", () => {
    element.remove();
    options.closed?.();
  });
  return element;
}

let dialogCount = 0;

/** @template {HTMLDialogElement} T @param {T} element */
export function open(element) {
  document.body.append(element);
  element.showModal();
  return element;
}

/** @param {string} heading @param {string} value @returns {Promise<string|null>} null: cancelled, or left empty */
export async function askTitle(heading, value) {
  const field = h("input", { type: "text", maxLength: 200, value, "aria-label": t("Title") });
  const answered = ask(heading, { yes: t("Rename"), look: "primary" }, field);
  field.select();
  return (await answered) ? field.value.trim() || null : null;
}

/**
 * @param {string} heading a question
 * @param {{yes: string, look?: "primary"|"danger"}} answer
 * @param {...(Node|string)} content
 * @returns {Promise<boolean>}
 */
export function ask(heading, { yes, look = "danger" }, ...content) {
  return new Promise((resolve) => {
    const closed = () => resolve(element.returnValue === "yes");
    const cancel = h("button", { type: "button", onclick: () => element.close("no") }, t("Cancel"));
    // Focus goes to the harmless answer, unless there is something to fill in.
    cancel.autofocus = look === "danger";
    const row = h("div", { class: "row" }, cancel, h("button", { value: "yes", class: look }, yes));
    const element = dialog(heading, { class: "question", closed }, h("form", { method: "dialog" }, ...content, row));
    open(element);
    element.querySelector("input")?.focus();
  });
}

/**
 * Closes the dialog if the action fails, since what went wrong is shown on the page below it.
 * @param {HTMLDialogElement} element
 * @param {() => Promise<any>} action
 * @param {(error: any) => void} failed
 */
export async function attemptOrClose(element, action, failed) {
  try {
    await action();
  } catch (error) {
    element.close();
    failed(error);
  }
}
