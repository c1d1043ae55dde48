/**
 * The tools of this server, and translated texts about their calls, for the line of a collapsed timeline and for each
 * call in it. Of the built-in tools the page brings cards along, of those of MCP servers the names. A restricted member
 * is told of documents in the checked summary of a search, as Markdown instead of JSON.
 */

import { duration, percent, hostOf } from "../elements/formats.js";
import { firstFilled, t, tn } from "../i18n.js";

/** @import {Round, Source, ToolCall} from "../types.js" */

const LONGEST_ABOUT = 120;

/** The card of a tool; of one without, what can be said of any. @param {string} name @returns {Omit<Card, "label"|"about"|"needs">} */
export function cardOf(name) {
  const label = { name: nameOf(name) };
  return (
    toolCards().get(name) ?? {
      name,
      icon: "tool",
      doing: [t("Using %(name)s", label)],
      done: [t("Used %(name)s", label)],
      failed: [t("Tried to use %(name)s", label)],
      several: "",
      shows: [],
      result: "text",
      is_choosable: true,
    }
  );
}

/** Only what has happened is told as done. @param {ToolCall} call */
export function title({ name, given, status }) {
  const { doing, done, failed, result } = cardOf(name);
  // Who does not answer has been asked all the same.
  const isDone = status === "completed" || (status === "refused" && result === "form");
  return firstFilled(isDone ? done : status === "failed" ? failed : doing, { ...given, host: hostOf(given.url) });
}

/** The most informative arguments of a call, or what it found, shortened. @param {ToolCall} call */
export function about({ name, given, documents }) {
  const text = detailOf(name, given, documents).replace(/\s+/g, " ").trim();
  return text.length > LONGEST_ABOUT ? `${text.slice(0, LONGEST_ABOUT)}…` : text;
}

/** @param {string} name @param {Record<string, any>} given @param {Source[]} documents */
function detailOf(name, given, documents) {
  if (!toolCards().has(name)) return texts(Object.values(given)).join(", ");
  const { shows = [] } = cardOf(name);
  return shows.length ? texts(shows.map((argument) => given[argument])).join(" · ") : (documents[0]?.title ?? "");
}

/** @param {unknown[]} values */
const texts = (values) => values.flat().filter((value) => value && typeof value === "string");

/** The state or outcome of a call. @param {ToolCall} call */
export function outcomeText({ status, durationMs, progress, question, address, signIn, name }) {
  if (status === "running") return progress ? progressText(progress) : t("running…");
  if (status === "waiting" && signIn) return t("waiting for your sign-in");
  if (status === "waiting" && address) return t("waiting until you are done");
  if (status === "waiting") return question ? t("waiting for your answer") : t("waiting for your approval");
  const ended = {
    completed: "",
    failed: t("failed"),
    refused: cardOf(name).result === "form" ? t("not answered") : t("refused"),
    unknown: t("stopped"),
    pending: t("handed over"),
  }[status];
  return [ended, durationMs ? duration(durationMs) : ""].filter(Boolean).join(" · ");
}

/** The text is the tool's own, in whatever language. @param {{done: number, total: number|null, text: string}} progress */
function progressText({ done, total, text }) {
  const share = total === null ? t("running…") : percent(Math.min(Math.max(done / total, 0), 1));
  return [text, share].filter(Boolean).join(" · ");
}

/**
 * The summary line of collapsed rounds.
 * @param {Round[]} rounds
 */
export function stepsText(rounds) {
  const calls = rounds.flatMap((round) => round.calls);
  const running = calls.filter(({ status }) => status === "running");
  if (running.length) return runningText(running);
  const waiting = calls.filter(({ status }) => status === "waiting");
  if (waiting.length) return `${title(waiting[0])}: ${outcomeText(waiting[0])}`;
  const ended = [doneText(calls), ...sourcesText(calls), ...problemTexts(calls), ...durationText(rounds)];
  return ended.join(" · ");
}

/** @param {ToolCall[]} running */
function runningText(running) {
  const call = /** @type {ToolCall} */ (running.at(-1));
  const names = new Set(running.map(({ name }) => name));
  if (names.size > 1) return tn("Using one tool", "Using %(count)s tools", running.length) + "…";
  return about(call) ? t("%(doing)s: %(about)s", { doing: title(call), about: about(call) }) : `${title(call)}…`;
}

/** What has been done, or else what was tried. @param {ToolCall[]} calls */
function doneText(calls) {
  const completed = calls.filter(({ status }) => status === "completed");
  const told = completed.length ? completed : calls;
  const names = new Set(told.map(({ name }) => name));
  if (names.size > 1)
    return completed.length
      ? t("Used %(count)s tools", { count: names.size })
      : tn("Using one tool", "Using %(count)s tools", names.size);
  const titles = new Set(told.map(title));
  if (titles.size === 1) return title(told[0]);
  return (completed.length && cardOf(told[0].name).several) || title({ ...told[0], given: {} });
}

/** @param {ToolCall[]} calls */
function sourcesText(calls) {
  const ids = new Set(documentsOf(calls).map(({ document_id }) => document_id));
  return ids.size ? [tn("%(count)s source", "%(count)s sources", ids.size)] : [];
}

/** @param {ToolCall[]} calls */
function problemTexts(calls) {
  if (calls.length === 1) return [outcomeText({ ...calls[0], durationMs: null })].filter(Boolean);
  const count = (/** @type {string} */ wanted) => calls.filter(({ status }) => status === wanted).length;
  const [failed, refused] = [count("failed"), count("refused")];
  return [
    failed && tn("%(count)s failed", "%(count)s failed", failed),
    refused && tn("%(count)s refused", "%(count)s refused", refused),
    count("unknown") && t("stopped"),
  ].filter(Boolean);
}

/** Parallel calls take as long as the slowest. @param {Round[]} rounds */
function durationText(rounds) {
  const slowest = rounds.map(({ calls }) => Math.max(...calls.map(({ durationMs }) => durationMs ?? NaN)));
  const ms = slowest.reduce((sum, one) => sum + one, 0);
  return Number.isNaN(ms) ? [] : [duration(ms)];
}

/** All documents that these calls and the calls inside them have found. @param {ToolCall[]} calls @returns {Source[]} */
export function documentsOf(calls) {
  return calls.flatMap((call) => [...call.documents, ...documentsOf(call.inside)]);
}

/** @typedef {ToolCard & {icon: import("../elements/icons.js").IconName}} Card */

/** @type {Map<string, Card>|undefined} */
let cards;

/** By their names, in the order in which they are offered. @returns {Map<string, Card>} */
export function toolCards() {
  const source = globalThis.document?.body.dataset.toolCards;
  if (!cards && source) cards = new Map(JSON.parse(source).map((/** @type {Card} */ card) => [card.name, card]));
  return cards ?? new Map();
}

const SEPARATOR = "__";
const ALL = "*";

/** The tools that may be chosen, and for each server a choice of all of them. @returns {string[]} their names */
export const offeredTools = () => [
  ...[...toolCards().values()].filter((card) => card.is_choosable && isConfigured(card.name)).map(({ name }) => name),
  ...(configuredTools() ?? []).filter(isOfServer),
];

/** Also of a tool that is unknown here, as of another kind of server. @param {string} tool */
export function isConfigured(tool) {
  const configured = configuredTools();
  return configured === undefined || configured.includes(tool) || !(toolCards().has(tool) || isOfServer(tool));
}

/** Single tools that may be called: a choice of all tools of an MCP server stands for each of them. @param {string[]} chosen */
export function singleTools(chosen) {
  const ofServers = (configuredTools() ?? []).filter((tool) => isOfServer(tool) && !tool.endsWith(ALL));
  const stands = (/** @type {string} */ tool) =>
    tool.endsWith(SEPARATOR + ALL) ? ofServers.filter((one) => one.startsWith(tool.slice(0, -1))) : [tool];
  return [...new Set(chosen.flatMap(stands))].filter(isConfigured);
}

/** As people read it: `time__now` is "time: now". @param {string} tool */
export function nameOf(tool) {
  if (!isOfServer(tool)) return toolCards().get(tool)?.label ?? tool;
  const server = serverOf(tool);
  return t("%(server)s: %(tool)s", { server, tool: tool.slice(server.length + SEPARATOR.length) });
}

/** The name of its server; empty: it is our own. @param {string} tool */
export const serverOf = (tool) => (isOfServer(tool) ? tool.slice(0, tool.indexOf(SEPARATOR)) : "");

/** Whether it is one of an MCP server. @param {string} tool */
export const isOfServer = (tool) => tool.indexOf(SEPARATOR) > 0;

const configuredTools = () => globalThis.document?.body.dataset.tools?.split(" ");

/** The choice of all tools of its server. @param {string} tool */
export const allOfServer = (tool) => serverOf(tool) + SEPARATOR + ALL;

/** As people read it below the name of its server: `time__get_current_time` is "Get current time". @param {string} tool */
export function labelOf(tool) {
  if (!isOfServer(tool)) return nameOf(tool);
  const server = serverOf(tool);
  if (tool === allOfServer(tool)) return t("All tools of %(server)s", { server });
  const words = tool
    .slice(server.length + SEPARATOR.length)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {string} output of a search of knowledge bases @returns {string} empty: it is no summary, or not whole */
export function safeSummaryText(output) {
  const summary = parse(output);
  if (typeof summary?.decision !== "string" || !Array.isArray(summary.sources)) return "";
  if (summary.decision !== "answer") return String(summary.summary ?? "");
  const { observations, risks, recommended_actions: actions } = summary;
  const lists = [
    list(t("Observations"), observations),
    list(t("Risks"), risks),
    list(t("Recommended actions"), actions),
  ];
  return [summary.summary, ...lists, confidenceText(summary.confidence)].filter(Boolean).join("\n\n");
}

/** @param {string} heading @param {unknown} items */
function list(heading, items) {
  if (!Array.isArray(items) || items.length === 0) return "";
  return `**${heading}**\n\n${items.map((item) => `- ${String(item).replace(/\s+/g, " ")}`).join("\n")}`;
}

/** @param {unknown} level */
function confidenceText(level) {
  if (level === "high") return t("High confidence");
  if (level === "medium") return t("Medium confidence");
  return level === "low" ? t("Low confidence") : "";
}

/** @param {string} output @returns {any} */
function parse(output) {
  if (!output.startsWith("{")) return null;
  try {
    return JSON.parse(output);
  } catch {
    return null; // cut
  }
}
