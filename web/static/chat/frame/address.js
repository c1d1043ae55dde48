/** What the URL's fragment names: `#<session>`, `#<session>/<message>`, `#project/<project>`, `#knowledge`, `#knowledge/<base>`, or nothing: a new chat. Pure. */

/** @param {string} fragment @returns {{session: string|null, message: string|null, project: string|null, knowledge: string|null}} knowledge: empty: all bases */
export function readAddress(fragment) {
  const [, session, message] = fragment.match(/^#([0-9a-f-]{36})(?:\/([0-9a-f-]{36}))?$/) ?? [];
  const [, kind = "", id = ""] =
    fragment.match(/^#(project|knowledge)\/([0-9a-f-]{36})$/) ?? fragment.match(/^#(knowledge)$/) ?? [];
  return {
    session: session ?? null,
    message: message ?? null,
    project: kind === "project" ? id : null,
    knowledge: kind === "knowledge" ? id : null,
  };
}

/** @param {string} id @param {string|null} [message] that is shown, and marked as found */
export const sessionAddress = (id, message) => (message ? `#${id}/${message}` : `#${id}`);
/** @param {string} project */
export const projectAddress = (project) => `#project/${project}`;
/** @param {string} [base] left out: all of them */
export const knowledgeAddress = (base) => (base ? `#knowledge/${base}` : "#knowledge");
