/** The two questions the page asks, in native dialogs (focus, Escape and inertness are the browser's). */

/** @param {HTMLDialogElement} dialog @param {string} title @returns {Promise<string|null>} null: cancelled */
export async function askTitle(dialog, title) {
  const field = dialog.querySelector("input");
  field.value = title;
  const opened = ask(dialog);
  field.select();
  return (await opened) ? field.value.trim() || null : null;
}

/** @param {HTMLDialogElement} dialog @param {string} title */
export function confirmDeletion(dialog, title) {
  dialog.querySelector("[data-title]").textContent = title;
  return ask(dialog);
}

/** @param {HTMLDialogElement} dialog @returns {Promise<boolean>} */
function ask(dialog) {
  dialog.returnValue = "";
  /** @type {HTMLButtonElement} */ (dialog.querySelector("[data-cancel]")).onclick = () => dialog.close("no");
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }),
  );
}
