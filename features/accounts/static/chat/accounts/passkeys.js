/**
 * The forms of passkeys. Sending one asks the server for a challenge and the browser for its answer, which goes into the field
 * `credential`; then the form is sent. Forms are shown where the browser can do that.
 */

import { t } from "../i18n.js";

const canUse = "credentials" in navigator && typeof PublicKeyCredential === "function";
for (const form of document.querySelectorAll("form[data-passkey]"))
  if (form instanceof HTMLFormElement && canUse) prepare(form);
const without = document.querySelector("[data-without-passkeys]");
if (without instanceof HTMLElement) without.hidden = canUse;

/** @param {HTMLFormElement} form */
function prepare(form) {
  form.hidden = false;
  const focused = form.querySelector("[autofocus]");
  if (focused instanceof HTMLElement) focused.focus();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
    if (button.disabled) return;
    button.disabled = true;
    say(form, "");
    try {
      const credential = /** @type {HTMLInputElement} */ (form.elements.namedItem("credential"));
      credential.value = JSON.stringify(await answer(form));
      // The password was checked with the challenge.
      const password = form.elements.namedItem("current_password");
      if (password instanceof HTMLInputElement) password.disabled = true;
      form.submit();
    } catch (error) {
      say(form, textOf(error));
    } finally {
      button.disabled = false;
    }
  });
}

/** What the server says is wrong, for the user. */
class Refused extends Error {}

/** @param {HTMLFormElement} form */
async function answer(form) {
  const response = await fetch(String(form.dataset.options), { method: "POST", body: new FormData(form) });
  const { options, message } = await response.json().catch(() => ({}));
  if (!options) throw new Refused(message);
  const publicKey = decoded(options);
  const made =
    form.dataset.passkey === "create"
      ? navigator.credentials.create({ publicKey })
      : navigator.credentials.get({ publicKey });
  return encoded(/** @type {PublicKeyCredential} */ (await made));
}

/** @param {HTMLFormElement} form @param {string} text */
function say(form, text) {
  const place = form.querySelector(".problem");
  if (!(place instanceof HTMLElement)) return;
  place.textContent = text;
  place.hidden = !text;
}

/** @param {unknown} error */
function textOf(error) {
  if (error instanceof Refused && error.message) return error.message;
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "AbortError")
    return t("No passkey was used: it was cancelled, took too long, or there is none.");
  if (name === "InvalidStateError") return t("This device has a passkey of this account already.");
  return t("That did not work. Try again, or take another way.");
}

// PublicKeyCredential.parseRequestOptionsFromJSON() and toJSON() are missing in browsers of 2024.

/** @param {any} options as the server sends them */
function decoded(options) {
  const descriptors = (/** @type {any[]|undefined} */ all) => all?.map((one) => ({ ...one, id: bytesOf(one.id) }));
  return {
    ...options,
    challenge: bytesOf(options.challenge),
    ...(options.user && { user: { ...options.user, id: bytesOf(options.user.id) } }),
    ...(options.allowCredentials && { allowCredentials: descriptors(options.allowCredentials) }),
    ...(options.excludeCredentials && { excludeCredentials: descriptors(options.excludeCredentials) }),
  };
}

/** @param {PublicKeyCredential} credential */
function encoded(credential) {
  const response = /** @type {any} */ (credential.response);
  /** @type {Record<string, string>} */
  const fields = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (response[name]) fields[name] = textOfBytes(response[name]);
  return {
    id: credential.id,
    rawId: textOfBytes(credential.rawId),
    type: credential.type,
    response: fields,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

/** @param {string} text base64url */
function bytesOf(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

/** @param {ArrayBuffer} bytes */
function textOfBytes(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
