/** What is said of knowledge bases: roles, counts, progress, where a passage was found. */

import { t, tn } from "../i18n.js";

/** @import {FoundPassage, KnowledgeBase, Member, MemberRole} from "../types.js" */

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
    processing > 0 && t("%(count)s being read", { count: processing }),
    failed > 0 && tn("%(count)s failed", "%(count)s failed", failed),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** The vectors that are still missing; empty: none. @param {Pick<KnowledgeBase, "indexing">} base */
export function indexingText({ indexing }) {
  if (!indexing || indexing.waiting === 0) return "";
  const done = Math.max(0, indexing.chunks - indexing.waiting);
  return t("Indexing: %(done)s of %(all)s passages. Words are found already, meanings follow.", {
    done,
    all: indexing.chunks,
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
