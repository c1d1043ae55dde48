/**
 * What is asked before chats and messages are deleted: nothing where they go into the trash, from which they come back.
 * An instance may keep none (KEEP_DELETED_DAYS=0).
 */

import { ask } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { t, tn } from "../i18n.js";

export const hasTrash = () => document.getElementById("sessions")?.dataset.trash !== "none";

/** Where nothing is kept, the user is asked first. @param {string} title @returns {Promise<boolean>} */
export async function mayDelete(title) {
  return (
    hasTrash() ||
    ask(
      t("Delete this chat?"),
      { yes: t("Delete") },
      h("p", {}, t("“%(title)s” and all its branches are deleted for good.", { title })),
    )
  );
}

/** @param {{is_temporary?: boolean}|undefined} session  that the message is in @returns {Promise<boolean>} */
export async function mayDeleteMessage(session) {
  const isKept = hasTrash() && !session?.is_temporary;
  return (
    isKept ||
    ask(
      t("Delete this message?"),
      { yes: t("Delete") },
      h("p", {}, t("It is deleted for good, with all that followed it.")),
    )
  );
}

/** @param {number} count @returns {Promise<boolean>} */
export async function mayDeleteAll(count) {
  return (
    hasTrash() ||
    ask(tn("Delete %(count)s chat for good?", "Delete %(count)s chats for good?", count), { yes: t("Delete") })
  );
}

export const removal = () => ({
  label: t("Delete"),
  icon: /** @type {const} */ ("trash"),
  hint: t("With all that followed it"),
  isDangerous: true,
});
