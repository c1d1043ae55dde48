/** REST calls of what the user has chosen for all chats. */

import { call } from "./api.js";

/** @import {Preferences} from "../types.js" */

/** @returns {Promise<Preferences>} */
export const readPreferences = () => call("GET", "preferences/");

/** @param {Partial<Preferences>} changes @returns {Promise<Preferences>} */
export const savePreferences = (changes) => call("PATCH", "preferences/", changes);
