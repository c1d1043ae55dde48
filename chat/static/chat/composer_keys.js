/** What a key pressed in the composer means. Pure. */

// Safari ends a composition with an Enter that says it is not composing; its keyCode still says so.
const COMPOSING = 229;

/**
 * @typedef {Pick<KeyboardEvent, "key"|"shiftKey"|"altKey"|"ctrlKey"|"metaKey"|"isComposing"|"keyCode">} Key
 * @param {Key} key
 * @param {{isEmpty: boolean, canStop: boolean}} now
 * @returns {"send"|"stop"|"edit_latest"|null} null: the key is the field's own
 */
export function meaningOf(key, now) {
  // Enter, Escape and arrows then belong to the input method (Chinese, Japanese, Korean).
  if (key.isComposing || key.keyCode === COMPOSING) return null;
  if (key.key === "Enter") return key.shiftKey || key.altKey ? null : "send";
  if (key.shiftKey || key.altKey || key.ctrlKey || key.metaKey) return null;
  if (key.key === "Escape" && now.canStop) return "stop";
  return key.key === "ArrowUp" && now.isEmpty ? "edit_latest" : null;
}
