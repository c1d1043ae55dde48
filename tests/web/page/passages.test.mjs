import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readableMessage } from "../../../web/static/chat/state/answer_text.js";

const cases = JSON.parse(readFileSync(new URL("../../chat/transcript/passages.json", import.meta.url), "utf8"));

for (const { name, passages, joined } of cases) {
  test(`an answer with tools is one text: ${name}`, () => {
    const call = (text_before, turn_number) => ({
      tool_call_id: `c${turn_number}`,
      name: "t",
      arguments: {},
      response: "",
      status: "completed",
      tab_index: 0,
      turn_number,
      text_before,
    });
    assert.equal(readableMessage({ text: passages.join(""), tool_calls: passages.slice(0, -1).map(call) }), joined);
  });
}
