/** How a run is named to its user. */

const REFERENCE_DIGITS = 8;

/** What a user tells an operator to have an answer looked up: the first digits of its run's id. @param {string} run */
export const referenceOf = (run) => run.slice(0, REFERENCE_DIGITS);

/** Where staff look the answer up, by the whole id: its run in the admin. For others empty. @param {string} run */
export const lookupOf = (run) => (document.querySelector("#account[data-staff]") ? `/admin/lookup/?q=${run}` : "");
