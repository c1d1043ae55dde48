/**
 * Carries the URL's fragment, which names the open chat and is not sent to the server, through the login; and counts
 * the time down until the next attempt to log in.
 */

import { t } from "../i18n.js";

// One of each form: with a password, and with a passkey.
for (const next of document.querySelectorAll("input[name=next]"))
  if (next instanceof HTMLInputElement)
    next.value = (next.value || "/") + (next.value.includes("#") ? "" : location.hash);

// The same through the login with a provider.
const link = document.querySelector("#oidc");
if (link instanceof HTMLAnchorElement && location.hash) {
  const address = new URL(link.href);
  const after = address.searchParams.get("next");
  if (after !== null && !after.includes("#")) address.searchParams.set("next", after + location.hash);
  link.href = address.href;
}

const clock = document.querySelector("time[data-seconds]");
const ready = document.getElementById("ready");
if (clock instanceof HTMLElement && ready) countDown(clock, ready);

/** @param {HTMLElement} clock @param {HTMLElement} ready */
function countDown(clock, ready) {
  const end = Date.now() + Number(clock.dataset.seconds) * 1000;
  const timer = setInterval(() => {
    // From the clock: timers rest while the tab is hidden.
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (left) return;
    clearInterval(timer);
    ready.textContent = t("You can try again now.");
  }, 1000);
}
