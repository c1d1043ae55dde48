/** A button in each password field of a page, which shows what is written. */

import { h } from "../elements/element.js";
import { t } from "../i18n.js";

for (const field of document.querySelectorAll("input[type=password]"))
  if (field instanceof HTMLInputElement) addButton(field);

/** @param {HTMLInputElement} field */
function addButton(field) {
  const button = h("button", { type: "button", class: "show-password", "aria-controls": field.id });
  const show = (/** @type {boolean} */ isShown) => {
    field.type = isShown ? "text" : "password";
    button.textContent = isShown ? t("Hide") : t("Show");
  };
  button.addEventListener("click", () => show(field.type === "password"));
  // Password managers remember fields of this type alone.
  field.form?.addEventListener("submit", () => show(false));
  const place = h("span", { class: "password-field" });
  field.replaceWith(place);
  place.append(field, button);
  // A field that is moved loses the focus.
  if (field.autofocus && document.activeElement === document.body) field.focus();
  show(false);
}
