/** The dialog of the user's saved prompts: a list, from which each is created, edited and deleted. */

import { ask, attemptOrClose, dialog, open } from "../elements/dialogs.js";
import { askFor, line, text, showRows } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { icon, iconButton } from "../elements/icons.js";
import { t } from "../i18n.js";
import { deletePrompt, readPrompts, savePrompt } from "./prompts_api.js";

/** @import {SavedPrompt} from "../types.js" */

const LONGEST_TEXT = 100_000;

/** @param {(error: any) => void} failed */
export async function openPrompts(failed) {
  const prompts = new PromptsDialog(failed);
  open(prompts.dialog);
  await prompts.draw();
}

class PromptsDialog {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    this.place = h("div", { class: "managed-rows" });
    this.dialog = dialog(t("Prompts"), { class: "large" }, this.place);
  }

  /** Reads the list anew; the dialog is left if it cannot be read. */
  draw() {
    return this.#attempt(async () => {
      const rows = (await readPrompts()).map((prompt) => this.#row(prompt));
      showRows(this.place, rows, {
        symbol: "edit",
        none: t("Save a text that you send often. A “/” at the beginning of a message lists your prompts."),
        create: t("New prompt"),
        onCreate: () => this.#edit(null),
      });
    });
  }

  /** @param {SavedPrompt} prompt */
  #row(prompt) {
    const begins = h("span", { class: "hint", dir: "auto" }, prompt.text.trim().split("\n")[0]);
    const edit = h(
      "button",
      { type: "button", class: "whole", onclick: () => this.#edit(prompt) },
      h("strong", { dir: "auto" }, prompt.name),
      begins,
    );
    const away = iconButton(t("Delete %(name)s", { name: prompt.name }), "trash", () => this.#remove(prompt));
    return h("li", {}, icon("edit"), edit, away);
  }

  /** @param {SavedPrompt|null} prompt null: a new one */
  async #edit(prompt) {
    const fields = {
      name: line(t("Name"), { maxLength: 200, required: true, value: prompt?.name ?? "" }),
      text: text(t("Text"), { rows: 10, maxLength: LONGEST_TEXT, required: true, value: prompt?.text ?? "" }),
    };
    const save = (/** @type {{name: string}} */ { name }) =>
      savePrompt(prompt?.id ?? null, { name, text: fields.text.control.value });
    const saved = await askFor(prompt ? t("Edit this prompt") : t("New prompt"), {
      yes: t("Save"),
      look: "large form",
      fields,
      save,
    });
    if (saved) await this.draw();
  }

  /** @param {SavedPrompt} prompt */
  async #remove(prompt) {
    const what = h("p", {}, t("“%(name)s” is deleted.", { name: prompt.name }));
    if (!(await ask(t("Delete this prompt?"), { yes: t("Delete") }, what))) return;
    await this.#attempt(() => deletePrompt(prompt.id));
    if (this.dialog.open) await this.draw();
  }

  /** @param {() => Promise<any>} action */
  #attempt(action) {
    return attemptOrClose(this.dialog, action, this.failed);
  }
}
