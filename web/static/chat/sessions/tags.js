/** The tags of chats: compared without regard to capitals. Pure. */

/** @param {string} one @param {string} other */
export const isSameTag = (one, other) => one.toLowerCase() === other.toLowerCase();

/** @param {string[]|undefined} tags @param {string} tag */
export const hasTag = (tags, tag) => Boolean(tags?.some((one) => isSameTag(one, tag)));

/** As the server renames it (`tag_changed`): a chat that has both keeps one. @param {string[]} tags @param {string} tag @param {string|null} name null: it is removed */
export function replaceTag(tags, tag, name) {
  if (!hasTag(tags, tag)) return tags;
  const others = tags.filter((one) => isSameTag(one, tag) || name === null || !isSameTag(one, name));
  return others.flatMap((one) => (!isSameTag(one, tag) ? [one] : name === null ? [] : [name]));
}
