/** The view of a user message: its files, and the text, editable in place. */

import { copyButton } from "../elements/copy_button.js";
import { h } from "../elements/element.js";
import { t, tn } from "../i18n.js";
import { icon, iconButton } from "../elements/icons.js";
import { menuButton } from "../elements/menu.js";
import { QuestionEditor } from "./edits.js";
import { QuestionText } from "./question_text.js";
import { removal } from "../sessions/deletion.js";
import { FileCards } from "../files/file_card.js";
import { entryOfAttached } from "../files/file_entry.js";
import { openFile } from "../files/files.js";
import { SentTime } from "../elements/sent_time.js";
import { SiblingSwitch } from "./versions.js";

/** @import {Pending} from "../composer/message_sender.js" */
/** @import {AttachedFile, Message} from "../types.js" */

export class UserMessage {
  /** @param {{select: (id: string) => void, remove: (id: string) => void, edit: (message: Message, text: string, isWaiting: boolean) => Promise<boolean>, edits: import("./edits.js").UnsavedEdits}} actions */
  constructor(actions) {
    this.actions = actions;
    /** @type {Message|undefined} */
    this.message = undefined;
    this.text = new QuestionText();
    this.files = new QuestionFiles();
    this.bases = h("p", { class: "question-bases", hidden: true });
    this.switch = new SiblingSwitch(actions.select);
    this.editButton = iconButton(t("Edit"), "edit", () => this.edit());
    this.copy = copyButton(t("Copy"), () => this.message.text);
    this.more = menuButton(t("More actions"), () => [{ ...removal(), action: () => actions.remove(this.message.id) }]);
    this.sent = new SentTime();
    this.footer = h("footer", {}, this.sent.element, this.switch.element, this.copy, this.editButton, this.more);
    this.element = h(
      "article",
      { class: "message user", "aria-label": t("You") },
      this.files.element,
      this.text.element,
      this.bases,
      this.footer,
    );
  }

  /** @param {Message} message */
  update(message) {
    if (message === this.message) return;
    this.message = message;
    this.text.show(message.text);
    this.copy.hidden = !message.text;
    this.sent.show(message.sent_at);
    this.switch.show(message);
    this.files.show(message.files ?? []);
    this.#showBases(message);
  }

  /** @param {Message} message */
  #showBases({ knowledge_bases: picked = [], earlier_knowledge_bases: earlier = [] }) {
    this.bases.hidden = picked.length + earlier.length === 0;
    if (picked.length > 0)
      this.bases.replaceChildren(
        icon("source"),
        tn("Only from %(count)s picked knowledge base", "Only from %(count)s picked knowledge bases", picked.length),
      );
    else if (earlier.length > 0) void this.#showEarlier(earlier);
  }

  /** @param {string[]} bases  picked with questions above this one, and searched again */
  async #showEarlier(bases) {
    const said = tn(
      "Searches %(count)s knowledge base again that was picked before",
      "Searches %(count)s knowledge bases again that were picked before",
      bases.length,
    );
    this.bases.replaceChildren(icon("source"), said);
    const { namesOf } = await import("../knowledge/knowledge_store.js");
    const names = await namesOf(bases);
    if (names.length > 0 && this.message?.earlier_knowledge_bases === bases)
      this.bases.replaceChildren(icon("source"), `${said}: ${names.join(", ")}`);
  }

  /** Shows all of a long text. */
  unfold() {
    this.text.unfold();
  }

  /** Opens the editor, with the caret at the end. */
  edit() {
    this.#openEditor();
    this.editor.focus();
  }

  /** Opens the editor again that was taken away with another view of this message. */
  resumeEdit() {
    if (!this.editor) this.#openEditor();
  }

  #openEditor() {
    const { edits } = this.actions;
    const { id, text, files = [] } = this.message;
    // As it is now: a question that is answered meanwhile must not be asked again without saying so.
    const isWaiting = this.element.classList.contains("waiting");
    this.editor ??= new QuestionEditor(
      text,
      isWaiting,
      {
        send: (edited) => this.actions.edit(this.message, edited, isWaiting),
        changed: (edited) => edits.keep(id, edited, text),
        closed: () => this.#leaveEditing(),
      },
      edits.read(id),
      !isWaiting && files.length > 0,
    );
    this.text.element.hidden = this.footer.hidden = true;
    this.element.append(this.editor.element);
    this.element.classList.add("editing");
  }

  #leaveEditing() {
    this.actions.edits.forget(this.message.id);
    this.editor = undefined;
    this.element.classList.remove("editing");
    this.text.element.hidden = this.footer.hidden = false;
    // The button that opened the editor: the footer of a question that waits is not shown.
    /** @type {HTMLElement|null} */ (this.element.querySelector(".queued button") ?? this.editButton).focus();
  }
}

/** The view of a message that is being sent. */
export class PendingMessage {
  constructor() {
    this.text = new QuestionText();
    this.files = new QuestionFiles();
    this.element = h(
      "article",
      { class: "message user pending", "aria-label": t("You, being sent") },
      this.files.element,
      this.text.element,
    );
  }

  /** @param {Pending} pending */
  show({ text, files }) {
    this.text.show(text);
    this.files.show(files.map((file) => ({ ...file, token_count: 0 })));
  }
}

class QuestionFiles {
  constructor() {
    this.element = h("ul", { class: "question-files file-cards", hidden: true, "aria-label": t("Files") });
    this.cards = new FileCards(this.element, { open: openFile });
  }

  /** @param {AttachedFile[]} files */
  show(files) {
    this.cards.show(files.map(entryOfAttached));
  }
}
