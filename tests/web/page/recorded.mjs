/** A recorded run with text of many scripts, and the server's responses about it after any number of packets. */

export const SESSION = "s";
export const RUN = "r";
export const MESSAGE = "m";

const TEXTS = ["Hé", "e\u0301llo ", "👩‍👩‍👧 ", "日本", "語。\n\n", "**bo", "ld** ", "\u200f", "end"];

/** @returns {any[]} the packets of one attempt, from run_start to stop */
export function recordedRun({ attempt = 1, texts = TEXTS, reason = "finished" } = {}) {
  const objs = [
    { type: "run_start", model: "m1" },
    { type: "reasoning_start" },
    { type: "reasoning_delta", text: "let me " },
    { type: "reasoning_delta", text: "think 🤔" },
    { type: "reasoning_done" },
    { type: "message_start" },
    ...texts.map((text) => ({ type: "message_delta", text })),
    { type: "section_end" },
    { type: "stop", stop_reason: reason },
  ];
  const placement = { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: 0 };
  return objs.map((obj, i) => ({ type: "packet", session: SESSION, run: RUN, attempt, seq: i + 1, placement, obj }));
}

/** The message as REST gives it after the first `count` packets. */
export function messageAfter(packets, count) {
  const seen = packets.slice(0, count);
  const joined = (type) =>
    seen
      .filter(({ obj }) => obj.type === type)
      .map(({ obj }) => obj.text)
      .join("");
  const isFinal = count === packets.length;
  return {
    ...questions().answer,
    text: joined("message_delta"),
    reasoning: joined("reasoning_delta"),
    status: isFinal ? "completed" : "running",
    ...(isFinal ? {} : { cursor: { attempt: count ? packets[0].attempt : 0, seq: count } }),
  };
}

export function questions() {
  return {
    question: { id: "q", parent: "root", role: "user", text: "Hi", siblings: ["q"] },
    answer: { id: MESSAGE, parent: "q", role: "assistant", model: "m1", run: RUN, siblings: [MESSAGE] },
  };
}

/** A read of the branch at that moment, as the page's shell gives it to `fold`. */
export function readAfter(packets, count) {
  const branch = [questions().question, messageAfter(packets, count)];
  return { type: "read", session: SESSION, branch, alongside: [] };
}

export const turnStarted = (n = 1) => ({
  type: "turn_started",
  session: SESSION,
  n,
  turn: "t",
  user_message: "q",
  runs: [{ id: RUN, message: MESSAGE, model: "m1", model_index: 0 }],
});

export const subscribed = (n = 0, runs = []) => ({ type: "subscribed", session: SESSION, n, runs });
