/** The host of an address, as people name it. Pure. */

/** @param {string|undefined|null} url @returns {string} empty if there is none */
export function hostOf(url) {
  try {
    return new URL(url ?? "").host.replace(/^www\./, "");
  } catch {
    return "";
  }
}
