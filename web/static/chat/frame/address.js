/** What the URL's fragment names: `#<session>`, `#project/<project>`, `#knowledge`, `#knowledge/<base>`, or nothing: a new chat. Pure. */

/** @param {string} fragment @returns {{session: string|null, project: string|null, knowledge: string|null}} knowledge: empty: all bases */
export function readAddress(fragment) {
  const [, kind = "", id = ""] = fragment.match(/^#(?:(project|knowledge)\/)?([0-9a-f-]{36})$/) ?? fragment.match(/^#(knowledge)$/) ?? [];
  return { session: (!kind && id) || null, project: kind === "project" ? id : null, knowledge: kind === "knowledge" ? id : null };
}

/** @param {string} project */
export const projectAddress = (project) => `#project/${project}`;
/** @param {string} [base] left out: all of them */
export const knowledgeAddress = (base) => (base ? `#knowledge/${base}` : "#knowledge");
