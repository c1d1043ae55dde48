/** Which chat was open is in the address's fragment, which no server sees: it is carried through the login here. */

const next = document.querySelector("input[name=next]");
if (next instanceof HTMLInputElement) next.value = (next.value || "/") + (next.value.includes("#") ? "" : location.hash);
