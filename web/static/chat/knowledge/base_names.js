/** The names of knowledge bases, for places that show them without the rest. */

import { readBases } from "../server/knowledge_api.js";

/** Those of the user, as they were when they were first asked for. @type {Promise<Map<string, string>>|undefined} */
let known;

/** @param {string[]} ids @returns {Promise<string[]>} those that the user is still a member of; none if they cannot be read now */
export async function namesOf(ids) {
  known ??= readBases().then((bases) => new Map(bases.map(({ id, name }) => [id, name])));
  try {
    const names = await known;
    return ids.map((id) => names.get(id) ?? "").filter(Boolean);
  } catch {
    known = undefined; // asked again with the next question
    return [];
  }
}
