/** The dialog in which owners say what a knowledge base is about. */

import { apiErrorText } from "../answer/status_texts.js";
import { t } from "../i18n.js";
import { changeBase } from "../server/knowledge_api.js";
import { askFor, line, nonEmptyLines, text } from "../elements/form_dialog.js";

/** @import {KnowledgeBase} from "../types.js" */

/** @param {KnowledgeBase} base @returns {Promise<KnowledgeBase|null>} null: cancelled */
export function editBase(base) {
  const perLine = t("One in each line.");
  const fields = {
    name: line(t("Name"), { maxLength: 200, required: true, value: base.name }),
    summary: text(
      t("Summary"),
      { rows: 4, value: base.summary },
      t("What the documents are about. Models of readers are told it."),
    ),
    topics: text(t("Topics"), { rows: 3, value: base.topics.join("\n") }, perLine),
    routing_hint: text(
      t("Hint for restricted members"),
      { rows: 2, maxLength: 200, value: base.routing_hint },
      t("All that restricted members and their models know before they search: no digits, quotations or headings."),
    ),
    routing_keywords: text(
      t("Keywords for restricted members"),
      { rows: 2, value: base.routing_keywords.join("\n") },
      `${t("At most five.")} ${perLine}`,
    ),
  };
  return askFor(t("Edit this knowledge base"), {
    yes: t("Save"),
    fields,
    look: "large form",
    words: hintProblem,
    save: ({ name, summary, topics, routing_hint, routing_keywords }) =>
      changeBase(base.id, {
        name,
        summary,
        topics: nonEmptyLines(topics),
        routing_hint: routing_hint.replace(/\s+/g, " "),
        routing_keywords: nonEmptyLines(routing_keywords),
      }),
  });
}

/** The server says of refused hints only that the value is invalid. @param {any} error */
function hintProblem(error) {
  const isHint = (error.field ?? "").startsWith("routing_") && error.code === "invalid_value";
  if (!isHint) return apiErrorText(error);
  return error.field === "routing_hint"
    ? t("A hint holds at most 200 characters, and no digits, quotation marks or headings.")
    : t("At most five keywords of 48 characters, without digits, quotation marks or headings.");
}
