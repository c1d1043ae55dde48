/** Which projects are unfolded in the sidebar. The browser remembers it. */

const KEPT_AS = "turnwire.folders";
/** The oldest ones are forgotten: they may be of projects that are gone, or of other users of this browser. */
const MOST = 100;

export class UnfoldedProjects {
  /** @param {Storage} storage */
  constructor(storage) {
    this.storage = storage;
    this.ids = stored(storage);
  }

  /** @param {string} id */
  has(id) {
    return this.ids.includes(id);
  }

  /** @param {string} id @param {boolean} isUnfolded */
  set(id, isUnfolded) {
    const others = this.ids.filter((one) => one !== id);
    this.ids = isUnfolded ? [...others, id].slice(-MOST) : others;
    try {
      this.storage.setItem(KEPT_AS, JSON.stringify(this.ids));
    } catch {
      // Without storage it lasts as long as the page.
    }
  }
}

/** @param {Storage} storage @returns {string[]} */
function stored(storage) {
  try {
    const ids = JSON.parse(storage.getItem(KEPT_AS) ?? "[]");
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string").slice(-MOST) : [];
  } catch {
    return [];
  }
}
