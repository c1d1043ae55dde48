/** What a key pressed in the composer means. Pure. */

// Safari ends a composition with an Enter that says it is not composing; its keyCode still says so.
const COMPOSING = 229;

/**
 * @typedef {Pick<KeyboardEvent, "key"|"shiftKey"|"altKey"|"ctrlKey"|"metaKey"|"isComposing"|"keyCode">} Key
 * @param {Key} key
 * @param {{isEmpty: boolean, canStop: boolean, sendKey: import("../settings/preferences.js").SendKey}} now
 * @returns {"send"|"stop"|"edit_latest"|null} null: the key is the field's own
 */
export function meaningOf(key, now) {
  // Enter, Escape and arrows then belong to the input method (Chinese, Japanese, Korean).
  if (key.isComposing || key.keyCode === COMPOSING) return null;
  if (key.key === "Enter") return sends(key, now.sendKey) ? "send" : null;
  if (key.shiftKey || key.altKey || key.ctrlKey || key.metaKey) return null;
  if (key.key === "Escape" && now.canStop) return "stop";
  return key.key === "ArrowUp" && now.isEmpty ? "edit_latest" : null;
}

/** @param {Key} enter @param {import("../settings/preferences.js").SendKey} sendKey */
function sends(enter, sendKey) {
  if (enter.shiftKey || enter.altKey) return false;
  return sendKey === "enter" || enter.ctrlKey || enter.metaKey;
}
