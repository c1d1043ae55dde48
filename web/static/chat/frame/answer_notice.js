/** Whether the end of a turn is told by a notification, and as what. Pure. */

/**
 * Nobody needs to be told what they see, or of what they stopped themselves.
 * @param {wire.StopReason} reason
 * @param {{isHidden: boolean, isOn: boolean}} tab
 * @returns {"ready"|"failed"|null}
 */
export function noticeOf(reason, { isHidden, isOn }) {
  if (!isHidden || !isOn || reason === "user_cancelled") return null;
  return reason === "error" ? "failed" : "ready";
}
