/** The login is over; after the next one the same chat is open again. */
export function toLogin() {
  location.assign(`/login/?next=${encodeURIComponent(location.pathname + location.hash)}`);
}
