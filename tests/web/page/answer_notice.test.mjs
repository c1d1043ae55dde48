import assert from "node:assert/strict";
import { test } from "node:test";

import { noticeOf } from "../../../web/static/chat/frame/notifications.js";

const AWAY = { isHidden: true, isOn: true };

for (const [reason, notice] of [
  ["finished", "ready"],
  ["error", "failed"],
  ["user_cancelled", null],
]) {
  test(`a hidden tab tells of a turn that ended as ${reason}: ${notice}`, () => {
    assert.equal(noticeOf(reason, AWAY), notice);
  });

  test(`a visible tab, and one where notifications are off, tell nothing of one that ended as ${reason}`, () => {
    assert.equal(noticeOf(reason, { ...AWAY, isHidden: false }), null);
    assert.equal(noticeOf(reason, { ...AWAY, isOn: false }), null);
  });
}
