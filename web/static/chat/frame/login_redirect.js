/** The ways to the login page. */

// The user's own logout closes the socket, too, which must not look like a login that has expired.
let isLeaving = false;

/** Redirects to the login page, which says that the login has ended; after the next one the same chat is open again. */
export function redirectToLogin() {
  if (!isLeaving)
    location.assign(`/login/?notice=expired&next=${encodeURIComponent(location.pathname + location.hash)}`);
}

/** @param {HTMLFormElement} form */
export function logOut(form) {
  isLeaving = true;
  form.submit();
}
