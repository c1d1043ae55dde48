/** Which models are sent all files of a project, which search them, and which cannot. */

import { t } from "../i18n.js";

/** @import {Model} from "../types.js" */

/** @param {Record<string, boolean>} fits by model @param {Model[]} models those that may be asked */
export function fitText(fits, models) {
  const named = (/** @type {Model[]} */ some) => some.map(({ name }) => name).join(", ");
  const whole = models.filter(({ name }) => fits[name]);
  const left = models.filter(({ name }) => fits[name] === false);
  const searching = left.filter((model) => model.supports_tools);
  const without = left.filter((model) => !model.supports_tools);
  if (models.length === 0) return ""; // not known yet
  if (left.length === 0) return t("part of every question");
  if (searching.length === models.length) return t("too large for every question: models search them");
  const parts = [
    whole.length > 0 && t("part of every question to %(models)s", { models: named(whole) }),
    searching.length > 0 && t("searched by %(models)s", { models: named(searching) }),
    without.length > 0 && t("too large for %(models)s", { models: named(without) }),
  ];
  return parts.filter(Boolean).join(", ");
}
