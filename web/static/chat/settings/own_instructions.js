/** The setting of the user's instructions for all chats: a text, which is saved by a button, and a box that switches it off. */

import { text } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { tokenText } from "../files/file_texts.js";
import { t } from "../i18n.js";
import { savePreferences } from "../server/preferences_api.js";
import { onPreferences, sharePreferences } from "./tab_sync.js";

/** @import {Preferences} from "../types.js" */

const LONGEST = 4000;

/** What was written and not saved: it outlasts the dialog, which a click beside it closes. @type {string|null} */
let unsaved = null;

export class OwnInstructions {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    /** @type {Preferences|null} null: not read yet */
    this.stored = null;
    this.field = text(t("Instructions for all chats"), {
      rows: 4,
      maxLength: LONGEST,
      dir: "auto",
      placeholder: t("What models should call you, how long and in which tone they answer, which units they use"),
      oninput: () => this.#onEdit(),
    });
    this.isUsed = h("input", {
      type: "checkbox",
      disabled: true,
      onchange: () => this.#save({ uses_instructions: this.isUsed.checked }),
    });
    const box = h("label", { class: "box" }, this.isUsed, h("span", {}, t("Send them to the models")));
    const cancel = h("button", { type: "button", onclick: () => this.#discard() }, t("Cancel"));
    this.row = h(
      "div",
      { class: "row", hidden: true },
      cancel,
      h("button", { type: "submit", class: "primary" }, t("Save")),
    );
    this.element = h(
      "form",
      { onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
      this.field.element,
      box,
      this.row,
    );
    this.#explain(0);
    onPreferences(this.element, (preferences) => this.show(preferences));
  }

  /** @param {Preferences} preferences as stored */
  show(preferences) {
    this.stored = preferences;
    this.isUsed.disabled = false;
    this.isUsed.checked = preferences.uses_instructions;
    // While it is edited the field is right.
    const shown = unsaved ?? preferences.instructions;
    if (this.field.control.value !== shown) this.field.control.value = shown;
    this.#explain(preferences.instruction_tokens);
    this.#showState();
  }

  /** @param {number} tokens */
  #explain(tokens) {
    this.field.explain(
      [t("Every model reads them before the prompts of agent, project and chat"), tokens && tokenText(tokens)]
        .filter(Boolean)
        .join(" · "),
    );
  }

  #onEdit() {
    const { value } = this.field.control;
    unsaved = value === this.stored?.instructions ? null : value;
    this.#showState();
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    if (unsaved === null) return;
    const sent = unsaved;
    await this.#save({ instructions: sent }, () => {
      if (unsaved === sent) unsaved = null;
    });
  }

  #discard() {
    unsaved = null;
    if (this.stored) this.show(this.stored);
  }

  /** @param {Partial<Preferences>} changes @param {() => void} [saved] */
  async #save(changes, saved) {
    try {
      const preferences = await savePreferences(changes);
      saved?.();
      sharePreferences(preferences);
    } catch (error) {
      this.failed(error);
    }
  }

  #showState() {
    const isChanged = unsaved !== null;
    const hadFocus = this.row.contains(document.activeElement);
    this.row.hidden = !isChanged;
    // Other tabs' changes of settings wait for it (tab_sync.js).
    this.element.toggleAttribute("data-unsaved", isChanged);
    if (hadFocus && !isChanged) this.field.control.focus();
  }
}
