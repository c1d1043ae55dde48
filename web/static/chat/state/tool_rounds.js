/**
 * The tool rounds of an answer, reduced from packets or read from a message. Pure.
 *
 * A round is what one inference requested: the reasoning and text before it, and its parallel calls. An agent tool's
 * call contains a list of nested calls and the report it writes.
 */

import { parseJson } from "../server/exact_json.js";

/** @import {Round, ToolCall} from "../types.js" */

/** @typedef {Extract<wire.Packet["obj"], {tool_call_id: string}>|(wire.SectionEnd & {tool_call_id: string})} CallPacket  of one call */

/** What packets of a call and the message add to a call that has begun. */
export const NOTHING_YET = {
  /** The server's id; empty: not known yet */
  row: "",
  /** Its arguments @type {Record<string, any>} */
  given: {},
  /** What the model asked for, if the user edited the arguments @type {Record<string, any>|null} */
  asked: null,
  /** The arguments as text, as far as received */
  writing: "",
  /** Beside documents: what the tool says of them */
  output: "",
  /** What an agent tool writes */
  report: "",
  /** The id under which the message has the whole output; null: it is shown in full @type {string|null} */
  ref: null,
  /** @type {number|null} */
  durationMs: null,
  /** How far it is; null: its tool has not said @type {{done: number, total: number|null, text: string}|null} */
  progress: null,
  /** What it asks its user, while it waits; null: nothing @type {QuestionAnswer|null} */
  question: null,
  /** Where its user has to go, while it waits; null: nowhere @type {AddressQuestionAnswer|null} */
  address: null,
  /** What its user has to sign in to, while it waits; null: nothing @type {SignInQuestionAnswer|null} */
  signIn: null,
  /** What is different from the tool that the user has allowed, while it waits; null: nothing @type {string|null} */
  changed: null,
  /** What its tool does, while it waits, in the words of whoever wrote the tool; null: it says nothing @type {string|null} */
  summary: null,
};

/** @typedef {{text: string, reasoning: string, reasoningMs: number|null}} AnswerText  of the answer so far; text: all of it */

/** Whether a packet belongs to a round: a tool's, or anything from inside an agent tool. @param {Pick<wire.Packet, "placement"|"obj">} packet */
export function isToolPacket({ placement, obj }) {
  return isInside(placement) || isOfCall(obj);
}

/** @param {wire.Packet["obj"]} obj @returns {obj is CallPacket} */
const isOfCall = (obj) => "tool_call_id" in obj;

/** @param {wire.Placement} [placement] */
export const isInside = (placement) => (placement?.sub_turn_index ?? null) !== null;

/** The text after the last round. @param {string} text all of it @param {Round[]} rounds */
export function textAfter(text, rounds) {
  return text.slice(rounds.reduce((length, { textBefore }) => length + textBefore.length, 0));
}

/**
 * Groups rounds with no text between them, which show as one timeline.
 * @param {Round[]} rounds
 * @returns {{textBefore: string, rounds: Round[]}[]}
 */
export function groupsOf(rounds) {
  /** @type {{textBefore: string, rounds: Round[]}[]} */
  const groups = [];
  for (const round of rounds) {
    const last = groups.at(-1);
    if (last && !round.textBefore.trim()) last.rounds.push(round);
    else groups.push({ textBefore: round.textBefore, rounds: [round] });
  }
  return groups;
}

/**
 * @param {Round[]} rounds
 * @param {Pick<wire.Packet, "placement"|"obj">} packet of which isToolPacket is true
 * @param {AnswerText} answer reasoning: since the round before
 * @returns {Round[]}
 */
export function withToolPacket(rounds, { placement, obj: body }, answer) {
  if (isInside(placement))
    return withLastRound(rounds, (round) => changeCall(round, placement, (call) => withNestedPacket(call, body)));
  const obj = /** @type {CallPacket} */ (body);
  const { turn_index, tab_index } = placement;
  // A message that was read may be ahead of its packets, and knows its calls by their ids alone.
  const isKnown = rounds.at(-1)?.calls.some(({ id }) => id === obj.tool_call_id);
  const isNew = !isKnown && rounds.at(-1)?.turn_index !== turn_index;
  const known = isNew ? [...rounds, newRound(turn_index, rounds, answer)] : rounds;
  return withLastRound(known, (round) => ({ ...round, turn_index, calls: withCall(round.calls, obj, tab_index) }));
}

/** Marks the calls still running when the run ends as `unknown`, since their results will not arrive, and the waiting ones as refused. @param {Round[]} rounds @returns {Round[]} */
export function endRunningCalls(rounds) {
  return rounds.map((round) => ({ ...round, calls: round.calls.map(endIfRunning) }));
}

/** @type {Partial<Record<import("../types.js").CallStatus, import("../types.js").CallStatus>>} */
const ENDED_AS = { running: "unknown", waiting: "refused" };

/** @param {ToolCall} call @returns {ToolCall} */
function endIfRunning(call) {
  return { ...call, inside: call.inside.map(endIfRunning), status: ENDED_AS[call.status] ?? call.status };
}

/** The calls that wait for their user's approval or answer. @param {Round[]} rounds */
export const waitingCalls = (rounds) =>
  rounds.flatMap(({ calls }) => calls).filter(({ status }) => status === "waiting");

/**
 * @param {ToolCallAnswer[]} [calls]
 * @returns {Round[]}
 */
export function roundsOf(calls = []) {
  /** @type {Map<number, Round>} */
  const rounds = new Map();
  for (const call of calls) {
    const { turn_number, text_before = "", reasoning = "", reasoning_ms = null } = call;
    /** @type {Round} */
    const first = { turn_index: -1, textBefore: text_before, reasoning, reasoningMs: reasoning_ms, calls: [] };
    const round = rounds.get(turn_number) ?? first;
    round.calls.push(readCall(call));
    rounds.set(turn_number, round);
  }
  return [...rounds.values()];
}

/** @param {ToolCallAnswer} call @returns {ToolCall} */
function readCall(call) {
  const { documents = [], response, status } = call;
  return {
    ...newCall(call.tool_call_id, call.tab_index, call.name),
    row: call.id,
    given: call.arguments,
    asked: call.asked_arguments ?? null,
    question: call.question ?? null,
    address: call.address ?? null,
    signIn: call.sign_in ?? null,
    changed: call.changed ?? null,
    summary: call.summary ?? null,
    output: documents.length > 0 ? noteIn(response) : response,
    documents,
    images: call.images ?? [],
    status,
    durationMs: call.duration_ms ?? null,
    inside: (call.children ?? []).map(readCall),
  };
}

/** What a search says beside the documents that it found, if anything. @param {string} response  that of a model @returns {string} */
export function noteIn(response) {
  const { note } = parseObject(response) ?? {};
  return typeof note === "string" ? note : "";
}

/** @param {number} turn_index @param {Round[]} rounds @param {AnswerText} answer @returns {Round} */
function newRound(turn_index, rounds, { text, reasoning, reasoningMs }) {
  return { turn_index, textBefore: textAfter(text, rounds), reasoning, reasoningMs, calls: [] };
}

/** @param {Round[]} rounds @param {(round: Round) => Round} change */
function withLastRound(rounds, change) {
  const last = rounds.at(-1);
  return last ? [...rounds.slice(0, -1), change(last)] : rounds;
}

/** @param {Round} round @param {wire.Placement} placement @param {(call: ToolCall) => ToolCall} change */
function changeCall(round, { tab_index }, change) {
  return { ...round, calls: round.calls.map((call) => (call.tab === tab_index ? change(call) : call)) };
}

/** Applies a packet from inside an agent's call. @param {ToolCall} call @param {wire.Packet["obj"]} obj @returns {ToolCall} */
function withNestedPacket(call, obj) {
  if (obj.type === "report_delta") return { ...call, report: call.report + obj.text };
  return isOfCall(obj) ? { ...call, inside: withCall(call.inside, obj, -1) } : call;
}

/** @param {ToolCall[]} calls @param {CallPacket} obj @param {number} tab @returns {ToolCall[]} */
function withCall(calls, obj, tab) {
  if (obj.type === "tool_start") {
    const call = newCall(obj.tool_call_id, tab, obj.name);
    return [...calls.filter(({ id }) => id !== call.id), call];
  }
  return calls.map((call) => (call.id === obj.tool_call_id ? { ...call, ...packetChanges(call, obj) } : call));
}

/** Returns what one packet changes of a call. @param {ToolCall} call @param {CallPacket} obj @returns {Partial<ToolCall>} */
function packetChanges(call, obj) {
  switch (obj.type) {
    case "tool_arguments_delta":
      return { writing: call.writing + obj.text };
    case "tool_arguments":
      // Arguments too long for one packet are those of the deltas.
      return { given: obj.ref ? parseObject(call.writing) : obj.arguments };
    case "approval_required":
      // Without arguments where they are too long; the packets before have them.
      return {
        status: "waiting",
        row: obj.tool_call,
        question: obj.question ?? null,
        address: obj.address ?? null,
        signIn: obj.sign_in ?? null,
        changed: obj.changed ?? null,
        summary: obj.summary ?? null,
        given: Object.keys(obj.arguments).length ? obj.arguments : call.given,
      };
    case "tool_progress":
      return { progress: { done: obj.done, total: obj.total ?? null, text: obj.text ?? "" } };
    case "tool_output":
      return {
        output: obj.output ?? "",
        documents: obj.documents ?? [],
        images: obj.images ?? [],
        ref: obj.ref ?? null,
      };
    case "section_end":
      return { status: obj.status ?? "completed", durationMs: obj.duration_ms ?? null };
    default:
      return {};
  }
}

/** @param {string} text @returns {Record<string, any>} */
function parseObject(text) {
  try {
    return parseJson(text);
  } catch {
    return {}; // the beginning was missed; the message contains them when it is read
  }
}

/** @param {string} id @param {number} tab @param {string} name @returns {ToolCall} */
function newCall(id, tab, name) {
  return { id, tab, name, status: "running", ...NOTHING_YET, documents: [], images: [], inside: [] };
}
