/**
 * Decides which models answer: the session's, else those picked last with its agent, else the agent's own, else the user's
 * for all chats, else those picked without an agent. Pure.
 */

/** @import {Agent, Model} from "../types.js" */

export const MOST = 4;

/** @typedef {Record<string, string[]>} Picks  names by the agent they were picked with; "" without one */

/**
 * @param {Model[]} models those offered
 * @param {Agent|null} agent
 * @param {Picks} picks
 * @param {string[]} [own] the session's
 * @returns {string[]} in the order offered; never empty where models are offered
 */
export function chooseModels(models, agent, picks, own = []) {
  const offered = (/** @type {string[]|undefined} */ names) =>
    models
      .map(({ name }) => name)
      .filter((name) => names?.includes(name))
      .slice(0, MOST);
  const preferred = models.filter((model) => model.is_own_default).map(({ name }) => name);
  const wishes = [own, ...(agent ? [picks[agent.id], agent.models] : []), preferred, picks[""]].map(offered);
  const standard = models.find((model) => model.is_default) ?? models[0];
  return wishes.find((names) => names.length > 0) ?? (standard ? [standard.name] : []);
}

/**
 * Returns the picks after a new choice. Picking an agent's own models stores nothing, so that later changes of the agent apply.
 * @param {Picks} picks @param {Agent|null} agent @param {string[]} names
 * @returns {Picks}
 */
export function withPick(picks, agent, names) {
  const { [agent?.id ?? ""]: _replaced, ...others } = picks;
  const isAgents = agent !== null && isSame(names, agent.models);
  return names.length === 0 || isAgents ? others : { ...others, [agent?.id ?? ""]: names };
}

/** @param {string[]} one @param {string[]} other */
export const isSame = (one, other) => one.length === other.length && one.every((name) => other.includes(name));
