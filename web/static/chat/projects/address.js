/** What the URL's fragment names: `#<session>`, `#project/<project>`, or nothing: a new chat. Pure. */

/** @param {string} fragment @returns {{session: string|null, project: string|null}} */
export function readAddress(fragment) {
  const [, isProject, id] = fragment.match(/^#(project\/)?([0-9a-f-]{36})$/) ?? [];
  return { session: id && !isProject ? id : null, project: id && isProject ? id : null };
}

/** @param {string} project */
export const projectAddress = (project) => `#project/${project}`;
