/** Translated texts about tool calls: for the line of a collapsed timeline and for each call in it. Pure. */

import { duration, percent } from "../elements/durations.js";
import { hostOf } from "../elements/hosts.js";
import { t, tn } from "../i18n.js";
import { nameOf } from "./tool_names.js";

/** @import {IconName} from "../elements/icons.js" */
/** @import {Round, Source, ToolCall} from "../types.js" */

const LONGEST_ABOUT = 120;

/**
 * @typedef {object} ToolWords
 * @property {IconName} icon
 * @property {(given: Record<string, any>) => string} doing
 * @property {(given: Record<string, any>) => string} done
 * @property {(given: Record<string, any>) => string} failed  without a claim that anything was done
 * @property {() => string} [refused]  left out: `doing`, of a call that was not made
 * @property {() => string} [several]  of calls whose `done` differs
 * @property {(given: Record<string, any>, documents: Source[]) => string} about  its most informative arguments, or what it found
 */

/** @param {Record<string, any>} given */
const queriesOf = ({ query, queries = [] }) => [query, ...[queries].flat()].filter(Boolean).join(" · ");

/** @type {Record<string, ToolWords>} */
const TOOLS = {
  web_search: {
    icon: "globe",
    doing: () => t("Searching the web"),
    done: () => t("Searched the web"),
    failed: () => t("Could not search the web"),
    about: queriesOf,
  },
  open_url: {
    icon: "globe",
    doing: ({ url }) => (hostOf(url) ? t("Opening %(host)s", { host: hostOf(url) }) : t("Opening a page")),
    done: ({ url }) => (hostOf(url) ? t("Opened %(host)s", { host: hostOf(url) }) : t("Opened a page")),
    failed: ({ url }) =>
      hostOf(url) ? t("Could not open %(host)s", { host: hostOf(url) }) : t("Could not open a page"),
    several: () => t("Opened web pages"),
    about: (_given, documents) => documents[0]?.title ?? "",
  },
  search_project: {
    icon: "search",
    doing: () => t("Searching the project"),
    done: () => t("Searched the project"),
    failed: () => t("Could not search the project"),
    about: queriesOf,
  },
  knowledge_base_search: {
    icon: "source",
    doing: () => t("Searching knowledge bases"),
    done: () => t("Searched knowledge bases"),
    failed: () => t("Could not search knowledge bases"),
    about: queriesOf,
  },
  read_file: {
    icon: "file",
    doing: () => t("Reading a file"),
    done: () => t("Read a file"),
    failed: () => t("Could not read a file"),
    // Its argument is an id.
    about: (_given, documents) => documents[0]?.title ?? "",
  },
  research_agent: {
    icon: "agent",
    doing: () => t("Researching"),
    done: () => t("Researched"),
    failed: () => t("Could not research"),
    about: ({ question = "" }) => String(question),
  },
  ask_user: {
    icon: "user",
    doing: () => t("Asking you"),
    done: () => t("Asked you"),
    failed: () => t("Could not ask you"),
    refused: () => t("Asked you"),
    about: ({ message = "" }) => String(message),
  },
  current_time: {
    icon: "clock",
    doing: () => t("Looking at the clock"),
    done: () => t("Looked at the clock"),
    failed: () => t("Could not look at the clock"),
    about: ({ timezone = "" }) => String(timezone),
  },
};

/** @param {string} name @returns {ToolWords} */
export function wordsOf(name) {
  if (Object.hasOwn(TOOLS, name)) return TOOLS[name];
  const shown = { name: nameOf(name) };
  return {
    icon: "tool",
    doing: () => t("Using %(name)s", shown),
    done: () => t("Used %(name)s", shown),
    failed: () => t("Tried to use %(name)s", shown),
    about: joinTexts,
  };
}

/** Only what has happened is told as done. @param {ToolCall} call */
export function title({ name, given, status }) {
  const words = wordsOf(name);
  if (status === "completed") return words.done(given);
  if (status === "failed") return words.failed(given);
  return (status === "refused" && words.refused?.()) || words.doing(given);
}

/** The most informative arguments of a call, or what it found, shortened. @param {ToolCall} call */
export function about({ name, given, documents }) {
  const text = wordsOf(name).about(given, documents).replace(/\s+/g, " ").trim();
  return text.length > LONGEST_ABOUT ? `${text.slice(0, LONGEST_ABOUT)}…` : text;
}

/** The state or outcome of a call. @param {ToolCall} call */
export function outcomeText({ status, durationMs, progress, question, address, signIn, name }) {
  if (status === "running") return progress ? progressText(progress) : t("running…");
  if (status === "waiting" && signIn) return t("waiting for your sign-in");
  if (status === "waiting" && address) return t("waiting until you are done");
  if (status === "waiting") return question ? t("waiting for your answer") : t("waiting for your approval");
  const ended = {
    completed: "",
    failed: t("failed"),
    refused: name === "ask_user" ? t("not answered") : t("refused"),
    unknown: t("stopped"),
  }[status];
  return [ended, durationMs === null ? "" : duration(durationMs)].filter(Boolean).join(" · ");
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
  const call = running.at(-1);
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
  return (completed.length && wordsOf(told[0].name).several?.()) || title({ ...told[0], given: {} });
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

/** @param {Record<string, any>} given */
function joinTexts(given) {
  return Object.values(given)
    .flat()
    .filter((value) => typeof value === "string")
    .join(", ");
}
