/** Carries the URL's fragment, which names the open chat and is not sent to the server, through the login. */

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
