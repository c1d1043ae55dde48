/** Carries the URL's fragment, which names the open chat and is not sent to the server, through the login. */

const next = document.querySelector("input[name=next]");
if (next instanceof HTMLInputElement) next.value = (next.value || "/") + (next.value.includes("#") ? "" : location.hash);
