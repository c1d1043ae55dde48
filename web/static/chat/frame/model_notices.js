/** Says on the page that nobody but the demo, or nobody at all, can answer. */

/** @import {Model} from "../types.js" */

/** @param {Model[]} models those offered */
export function showModelNotices(models) {
  /** @type {HTMLElement} */ (document.getElementById("demo-notice")).hidden = !models.some(
    (model) => model.is_default && model.is_demo,
  );
  /** @type {HTMLElement} */ (document.getElementById("no-models")).hidden = models.length > 0;
}
