/** Redirects to the login page; after the login the same chat is open again. */
export function redirectToLogin() {
  location.assign(`/login/?next=${encodeURIComponent(location.pathname + location.hash)}`);
}
