/** Interprets keys pressed in the composer. Pure. */

import { isComposing } from "../elements/composition.js";

/**
 * @typedef {Pick<KeyboardEvent, "key"|"shiftKey"|"altKey"|"ctrlKey"|"metaKey"|"isComposing"|"keyCode">} Key
 * @param {Key} key
 * @param {{isEmpty: boolean, canStop: boolean, sendKey: import("../settings/preferences.js").SendKey}} now
 * @returns {"send"|"stop"|"edit_latest"|null} null: the field handles the key
 */
export function interpretKey(key, now) {
  if (isComposing(key)) return null;
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
