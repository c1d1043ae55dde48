/** The menu under the user's name. Its dialogs are loaded on first use. */

import { t } from "../i18n.js";
import { attachMenu } from "../elements/menu.js";
import { openSheet } from "./shortcuts.js";
import { logOut } from "./connection.js";

/** @import {MenuItem} from "../elements/menu.js" */

/**
 * @param {HTMLButtonElement} button
 * @param {object} page
 * @param {HTMLFormElement} page.logout
 * @param {() => Promise<void>} page.archive
 * @param {() => Promise<void>} page.trash
 * @param {(error: any) => void} page.failed
 */
export function attachAccountMenu(button, { logout, archive, trash, failed }) {
  const hasProviders = "providers" in button.dataset;
  const openProviders = (how = {}) =>
    import("../providers/providers_dialog.js").then((m) => m.openProviders(failed, how), failed);
  // Where the page says that there is no model.
  for (const other of document.querySelectorAll("[data-add-provider]"))
    other.addEventListener("click", () => openProviders({ adds: true }));
  // The start page of the admin leads here.
  if (hasProviders && new URLSearchParams(location.search).has("connect")) openProviders({ adds: true });
  attachMenu(button, () => [
    {
      label: t("Settings"),
      icon: "settings",
      terms: t("Theme, language, keys, notifications, instructions, models, API tokens, limits, usage"),
      action: () => import("../settings/settings_dialog.js").then((m) => m.openSettings(failed), failed),
    },
    {
      label: t("Agents"),
      icon: "agent",
      action: () => import("../agents/agents_dialog.js").then((m) => m.openAgents(failed), failed),
    },
    {
      label: t("Prompts"),
      icon: "edit",
      action: () => import("../prompts/prompts_dialog.js").then((m) => m.openPrompts(failed), failed),
    },
    { label: t("Keyboard shortcuts"), icon: "keyboard", action: () => openSheet() },
    ...installItems(failed),
    { label: t("Archived chats"), icon: "archive", isFirst: true, action: () => archive().catch(failed) },
    { label: t("Trash"), icon: "trash", action: () => trash().catch(failed) },
    {
      label: t("Import a chat"),
      icon: "upload",
      action: () => import("../transfer/import_dialog.js").then((m) => m.openImport(), failed),
    },
    ...(hasProviders
      ? [
          {
            label: t("Model providers"),
            icon: /** @type {const} */ ("model"),
            isFirst: true,
            action: () => openProviders(),
          },
        ]
      : []),
    ...("staff" in button.dataset
      ? [
          {
            label: t("Admin"),
            icon: /** @type {const} */ ("shield"),
            isFirst: !hasProviders,
            action: () => location.assign("/admin/"),
          },
        ]
      : []),
    { label: t("Profile"), icon: "user", isFirst: true, action: () => location.assign("/profile/") },
    { label: t("Change password"), icon: "key", action: () => location.assign("/password/") },
    { label: t("Log out"), icon: "logout", action: () => logOut(logout) },
  ]);
}

// Installing the page as an app, where the browser offers that.

/** The event with which the browser offers it; null until then. It is good for one prompt: after a refusal the browser sends another.
 * @type {Event & {prompt: () => Promise<any>}|null} */
let offer = null;

addEventListener("beforeinstallprompt", (event) => {
  // The entry of the menu takes the place of the browser's own banner.
  event.preventDefault();
  offer = /** @type {any} */ (event);
});
addEventListener("appinstalled", () => (offer = null));

/** The entry of the account menu, or none. @param {(error: any) => void} failed @returns {MenuItem[]} */
function installItems(failed) {
  return offer ? [{ label: t("Install"), icon: "download", action: () => install().catch(failed) }] : [];
}

async function install() {
  const taken = offer;
  offer = null;
  await taken?.prompt();
}
