/**
 * The tool rounds of an answer, folded from packets or read from a message. Pure.
 *
 * A round is what one inference asked for: the reasoning before it, and its calls side by side. What an agent tool does
 * inside is a list of its own calls, with the report it writes.
 */

/** @import {Round, ToolCall} from "./types.js" */

const NOTHING_YET = { given: {}, output: "", documents: [], report: "", inside: [] };
const CALL_PACKETS = new Set(["tool_start", "tool_arguments", "tool_output", "section_end"]);

/** Whether a packet belongs to a round: a tool's, or anything from inside an agent tool. */
export function isOfTools({ placement, obj }) {
  if (isInside(placement)) return true;
  return CALL_PACKETS.has(obj.type) && (obj.type !== "section_end" || obj.tool_call_id !== undefined);
}

/** @param {{sub_turn_index?: number|null}} [placement] */
export const isInside = (placement) => (placement?.sub_turn_index ?? null) !== null;

/**
 * @param {Round[]} rounds
 * @param {{placement: any, obj: any}} packet of which isOfTools is true
 * @param {string} reasoning what was thought since the round before
 * @returns {Round[]}
 */
export function withToolPacket(rounds, { placement, obj }, reasoning) {
  if (isInside(placement)) return withLastRound(rounds, (round) => inTab(round, placement, (call) => within(call, obj)));
  const { turn_index, tab_index } = placement;
  // A message that was read may be ahead of its packets, and knows its calls by their ids alone.
  const isKnown = rounds.at(-1)?.calls.some(({ id }) => id === obj.tool_call_id);
  const isNew = !isKnown && rounds.at(-1)?.turn_index !== turn_index;
  const known = isNew ? [...rounds, { turn_index, reasoning, calls: [] }] : rounds;
  return withLastRound(known, (round) => ({ ...round, turn_index, calls: withCall(round.calls, obj, tab_index) }));
}

/**
 * @param {any[]} [calls] as a message has them
 * @returns {Round[]}
 */
export function roundsOf(calls = []) {
  /** @type {Map<number, Round>} */
  const rounds = new Map();
  for (const call of calls) {
    const round = rounds.get(call.turn_number) ?? { turn_index: -1, reasoning: call.reasoning ?? "", calls: [] };
    round.calls.push(readCall(call));
    rounds.set(call.turn_number, round);
  }
  return [...rounds.values()];
}

/** @returns {ToolCall} */
function readCall({ tool_call_id, name, arguments: given, response, documents = [], status, tab_index, children = [] }) {
  const running = status === "running" || status === "pending";
  const inside = children.map(readCall);
  return { id: tool_call_id, tab: tab_index, name, given, output: response, documents, running, report: "", inside };
}

/** @param {Round[]} rounds @param {(round: Round) => Round} change */
function withLastRound(rounds, change) {
  const last = rounds.at(-1);
  return last ? [...rounds.slice(0, -1), change(last)] : rounds;
}

/** @param {Round} round @param {(call: ToolCall) => ToolCall} change */
function inTab(round, { tab_index }, change) {
  return { ...round, calls: round.calls.map((call) => (call.tab === tab_index ? change(call) : call)) };
}

/** What happens inside an agent's call. @param {ToolCall} call @returns {ToolCall} */
function within(call, obj) {
  if (obj.type === "report_delta") return { ...call, report: call.report + obj.text };
  return CALL_PACKETS.has(obj.type) ? { ...call, inside: withCall(call.inside, obj, -1) } : call;
}

/** @param {ToolCall[]} calls @returns {ToolCall[]} */
function withCall(calls, obj, tab) {
  const change = (values) => calls.map((call) => (call.id === obj.tool_call_id ? { ...call, ...values } : call));
  switch (obj.type) {
    case "tool_start": {
      const begun = { id: obj.tool_call_id, tab, name: obj.name, running: true, ...NOTHING_YET };
      return [...calls.filter(({ id }) => id !== begun.id), begun];
    }
    case "tool_arguments":
      return change({ given: obj.arguments });
    case "tool_output":
      return change({ output: obj.output ?? "", documents: obj.documents ?? [] });
    case "section_end":
      return change({ running: false });
    default:
      return calls;
  }
}
