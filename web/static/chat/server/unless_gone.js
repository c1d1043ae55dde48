/** Accepts that what is deleted was deleted elsewhere meanwhile. @param {any} error */
export function unlessGone(error) {
  if (error.status !== 404) throw error;
}
