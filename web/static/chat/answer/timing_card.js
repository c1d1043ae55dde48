/** A card with the timing and usage of an answer, read when it is opened, and its rows. */

import { h } from "../elements/element.js";
import { t, language, tn } from "../i18n.js";
import { PopoverCard } from "../elements/popover_card.js";
import { apiErrorText, referenceOf } from "./status_texts.js";
import { duration, tenths, whole } from "../elements/formats.js";

export class TimingCard {
  /** @param {import("./answer_footer.js").TimingView} view */
  constructor(view) {
    this.view = view;
    this.card = new PopoverCard(view.button, t("Usage and timing"));
    view.element.append(this.card.element);
  }

  toggle() {
    return this.card.toggle(() => this.#content());
  }

  async #content() {
    try {
      const run = await this.view.readRun(this.view.run);
      const rows = rowsOf(run, this.view.toolsMs);
      return h("dl", {}, ...rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    } catch (error) {
      return h("p", {}, apiErrorText(error));
    }
  }
}

/**
 * @typedef {object} RunUsage  what is shown of a run as REST returns it
 * @property {string} id
 * @property {string} model
 * @property {{prompt_tokens: number|null, completion_tokens: number|null, cached_tokens: number|null, reasoning_tokens: number|null, estimated_tokens?: number|null}} usage
 * @property {number|null} [cost]
 * @property {number|null} time_to_first_token_ms
 * @property {number} cycles
 * @property {number} [attempt]
 * @property {number} [continuations]  each takes two attempts
 * @property {string|null} [claimed_at]
 * @property {string|null} [ended_at]
 */

/** Below this, a rate is meaningless. */
const SHORTEST_MS = 50;
const COST_DIGITS = 2;

/** @param {RunUsage} run @param {number} toolsMs of its time, spent in tools @returns {[string, string][]} what is known: name and value */
export function rowsOf(run, toolsMs = 0) {
  const { prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, estimated_tokens } = run.usage;
  const writing = generationMs(run, toolsMs);
  const rate =
    completion_tokens && writing !== null && writing >= SHORTEST_MS ? completion_tokens / (writing / 1000) : null;
  return withoutMissing([
    [t("Model"), run.model],
    [t("Tokens read"), tokens(prompt_tokens, cached_tokens, t("cached"))],
    [t("Tokens written"), tokens(completion_tokens, reasoning_tokens, t("reasoning"))],
    [t("Of these estimated"), estimated_tokens ? whole(estimated_tokens) : null],
    [t("First token after"), run.time_to_first_token_ms === null ? null : duration(run.time_to_first_token_ms)],
    [
      t("Speed"),
      rate === null ? null : t("%(rate)s tokens per second", { rate: rate < 10 ? tenths(rate) : whole(rate) }),
    ],
    [t("Took"), workedMs(run) === null ? null : duration(workedMs(run))],
    [t("Model calls"), run.cycles > 1 ? whole(run.cycles) : null],
    [
      t("Attempts"),
      attempts(run) > 1
        ? tn("%(count)s, after an interruption", "%(count)s, after interruptions", attempts(run))
        : null,
    ],
    [t("Cost"), run.cost === null || run.cost === undefined ? null : cost(run.cost)],
    [t("Reference"), referenceOf(run.id)],
  ]);
}

/** Without those of continuations, which no interruption caused. @param {RunUsage} run */
const attempts = ({ attempt = 1, continuations = 0 }) => attempt - 2 * continuations;

/** @param {[string, string|null][]} rows */
const withoutMissing = (rows) => /** @type {[string, string][]} */ (rows.filter(([, value]) => value !== null));

/** @param {number|null} count @param {number|null} part @param {string} name of the part */
function tokens(count, part, name) {
  if (count === null) return null;
  return part ? t("%(count)s (%(part)s %(name)s)", { count: whole(count), part: whole(part), name }) : whole(count);
}

/** @param {RunUsage} run */
function workedMs({ claimed_at, ended_at }) {
  return claimed_at && ended_at ? Math.max(0, Date.parse(ended_at) - Date.parse(claimed_at)) : null;
}

/** From the first token to the end, tools left out. @param {RunUsage} run @param {number} toolsMs */
function generationMs(run, toolsMs) {
  const worked = workedMs(run);
  return worked === null || run.time_to_first_token_ms === null ? null : worked - run.time_to_first_token_ms - toolsMs;
}

/** In the currency of the models' prices; small sums keep their first digits. @param {number} sum */
function cost(sum) {
  return sum === 0
    ? "0"
    : sum.toLocaleString(language, { minimumSignificantDigits: 1, maximumSignificantDigits: COST_DIGITS });
}
