/** The picture of an agent: its emoji, or the icon of all agents. */

import { h } from "./element.js";
import { icon } from "./icons.js";

/** @param {{emoji?: string}} agent */
export const agentPicture = ({ emoji }) =>
  emoji ? h("span", { class: "emoji", "aria-hidden": "true" }, emoji) : icon("agent");
