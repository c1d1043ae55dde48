/**
 * The knowledge bases that the user is a member of, and what is said of them: roles, counts, progress, where a passage
 * was found.
 */

import { t, tn } from "../i18n.js";
import { documentAt, readBase, readBases, readDocument } from "./knowledge_api.js";
import { whole } from "../elements/formats.js";
import { ListStore } from "../server/list_store.js";

/** @import {KnowledgeBase, FoundPassage, Member, MemberRole} from "../types.js" */

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

/** The names of the user's knowledge bases, which are read again after a while. @type {Promise<Map<string, string>>|undefined} */
let knownNames;
let namesReadAt = 0;
const NAMES_MS = 60_000;

/** @param {string[]} ids @returns {Promise<string[]>} those that the user is still a member of; none if they cannot be read now */
export async function namesOf(ids) {
  if (Date.now() - namesReadAt > NAMES_MS) knownNames = undefined;
  if (!knownNames) namesReadAt = Date.now();
  knownNames ??= readBases().then((bases) => new Map(bases.map(({ id, name }) => [id, name])));
  try {
    const names = await knownNames;
    return ids.map((id) => names.get(id) ?? "").filter(Boolean);
  } catch {
    knownNames = undefined; // asked again with the next question
    return [];
  }
}

/** The place of a cited document: a citation names the document alone. @param {string} document @returns {Promise<string|null>} its path below /api/; null: in none that the user may read */
export async function placeOfDocument(document) {
  const bases = (await readBases()).filter(isReadable);
  const found = await Promise.all(
    bases.map(({ id }) =>
      readDocument(id, document).then(
        () => documentAt(id, document),
        () => "",
      ),
    ),
  );
  return found.find(Boolean) ?? null;
}

/** The socket tells of files that have been read; how far indexing is, is asked for. */
export const ASK_INDEXING_MS = 3_000;

/** @returns {Record<MemberRole, string>} */
export const roleNames = () => ({
  owner: t("Owner"),
  editor: t("Editor"),
  reader: t("Reader"),
  restricted: t("Restricted"),
});

/** What a role allows. @param {MemberRole} role */
export function roleNote(role) {
  return {
    owner: t("manages members and documents"),
    editor: t("adds and deletes documents"),
    reader: t("reads documents"),
    restricted: t("gets answers, but sees no documents"),
  }[role];
}

/** What a member has not accepted; empty: nothing. @param {Member} member */
export function memberNote({ role, accepted, accepted_ownership: isHeir }) {
  if (!accepted) return t("invited");
  return role === "owner" && !isHeir ? t("ownership not accepted") : "";
}

/** @param {KnowledgeBase} base */
export function countText({ documents }) {
  if (!documents) return t("protected documents");
  const { processing, ready, failed } = documents;
  const all = processing + ready + failed;
  const parts = [
    tn("%(count)s document", "%(count)s documents", all),
    processing > 0 && t("%(count)s being read", { count: whole(processing) }),
    failed > 0 && tn("%(count)s failed", "%(count)s failed", failed),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** The vectors that are still missing; empty: none. @param {Pick<KnowledgeBase, "indexing">} base */
export function indexingText({ indexing }) {
  if (!indexing || indexing.waiting === 0) return "";
  const done = Math.max(0, indexing.chunks - indexing.waiting);
  return t("Indexing: %(done)s of %(all)s passages. Words are found already, meanings follow.", {
    done: whole(done),
    all: whole(indexing.chunks),
  });
}

/** @param {FoundPassage} found */
export function rankText({ lexical_rank: words, vector_rank: meaning }) {
  const parts = [
    words && t("no. %(rank)s by words", { rank: words }),
    meaning && t("no. %(rank)s by meaning", { rank: meaning }),
  ];
  return parts.filter(Boolean).join(" · ");
}
