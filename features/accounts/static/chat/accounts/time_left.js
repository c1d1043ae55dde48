/** Counts the time down until the next attempt to log in, and says when it is over. */

import { t } from "../i18n.js";

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
