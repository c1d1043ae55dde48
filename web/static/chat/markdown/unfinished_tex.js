/** Completes TeX that is still being written, so that it can be typeset. Pure. */

/** @param {string} tex @returns {string} */
export function completeTex(tex) {
  let text = tex.replace(/(?:\\[a-zA-Z]*|[\^_&]|\\begin\{[^}]*|\\left|\\right)\s*$/, "");
  /** @type {string[]} */
  const open = [];
  for (const { 0: part, 1: opened, 2: closed } of text.matchAll(
    /\\begin\{([^}]*)\}|\\end\{([^}]*)\}|\\left(?![a-z])|\\right(?![a-z])|\\.|[{}]/g,
  )) {
    if (opened !== undefined) open.push(`\\end{${opened}}`);
    else if (part === "{") open.push("}");
    else if (part === "\\left") open.push("\\right.");
    else if (closed !== undefined || part === "}" || part === "\\right") open.pop();
  }
  if (/\\left$/.test(text)) text = text.slice(0, -"\\left".length);
  return text + open.reverse().join("");
}
