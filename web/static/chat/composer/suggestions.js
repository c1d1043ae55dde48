/** What an empty page suggests to ask. A suggestion may bring what shows it: tools, models side by side, a document. */

/**
 * @param {HTMLElement} list
 * @param {object} page
 * @param {import("./composer.js").Composer} page.composer
 * @param {import("./answer_settings.js").AnswerSettings} page.settings
 * @param {(error: any) => void} page.failed
 */
export function attachSuggestions(list, { composer, settings, failed }) {
  list.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (button) take(button).catch(failed);
  });

  /** @param {HTMLButtonElement} button */
  async function take({ textContent, dataset }) {
    const files = dataset.document ? [await fetchDocument(dataset.document)] : [];
    settings.beginWith({ tools: words(dataset.tools), models: words(dataset.models) });
    composer.take(textContent, files);
  }
}

/** @param {string} [list] */
const words = (list) => list?.split(" ") ?? [];

/** @param {string} url of a file of this site @returns {Promise<File>} */
async function fetchDocument(url) {
  const answer = await fetch(url);
  // Collected files are named with a hash: lighthouse.0123456789ab.md.
  const [name, ...rest] = url.split("/").at(-1).split(".");
  return new File([await answer.blob()], `${name}.${rest.at(-1)}`, { type: "text/markdown" });
}
