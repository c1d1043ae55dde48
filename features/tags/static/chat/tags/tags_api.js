/** REST calls of the tags of chats. */

import { call } from "../server/api.js";

/** @typedef {TagAnswer} Tag */

/** @returns {Promise<Tag[]>} in the order of the alphabet */
export const readTags = () => call("GET", "tags/");

/** In all chats. @param {string} tag @param {string} name @returns {Promise<Tag>} */
export const renameTag = (tag, name) => call("PATCH", "tags/", { tag, name });

/** From all chats. @param {string} tag */
export const deleteTag = (tag) => call("DELETE", `tags/?${new URLSearchParams({ tag })}`);
