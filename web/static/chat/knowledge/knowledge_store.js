/** The knowledge bases that the user is a member of. */

import { t } from "../i18n.js";
import { readBase, readBases } from "../server/knowledge_api.js";
import { ListStore } from "../server/list_store.js";

/** @import {KnowledgeBase} from "../types.js" */

/** @extends {ListStore<KnowledgeBase>} */
export class KnowledgeStore extends ListStore {
  /** @param {(error: Error) => void} failed */
  constructor(failed) {
    super({ all: readBases, one: readBase }, { changed: () => this.listeners.forEach((changed) => changed()), failed });
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.ready = this.refresh();
  }

  /** @param {string} id */
  nameOf(id) {
    return this.get(id)?.name ?? t("Unknown knowledge base");
  }

  /** Those that the user has accepted; null: not read yet. */
  get accepted() {
    return this.rows && this.rows.filter(isAccepted);
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    if (frame.type === "sessions_watched" || frame.type === "sessions_resync") void this.refresh();
    else if (frame.type === "knowledge_base_changed") void this.read(frame.knowledge_base);
    else if (frame.type === "knowledge_base_deleted") this.remove(frame.knowledge_base);
  }
}

/** @param {KnowledgeBase} base */
export const isAccepted = ({ accepted }) => accepted;
/** @param {KnowledgeBase} base */
export const isReadable = ({ role }) => role !== "restricted";
/** @param {KnowledgeBase} base */
export const isEditable = ({ role }) => role === "editor" || role === "owner";
/** @param {KnowledgeBase} base */
export const isOwned = ({ role }) => role === "owner";
