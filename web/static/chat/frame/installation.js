/** Installing the page as an app, where the browser offers that. */

import { t } from "../i18n.js";

/** @import {MenuItem} from "../elements/menu.js" */

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
export function installItems(failed) {
  return offer ? [{ label: t("Install"), icon: "download", action: () => install().catch(failed) }] : [];
}

async function install() {
  const taken = offer;
  offer = null;
  await taken?.prompt();
}
