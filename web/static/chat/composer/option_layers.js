/** Layers of run options: a message's over its chat's over its agent's. Null as a value: the model's own. Pure. */

/** What holds, without nulls. @param {any[]} layers  each over those before it @returns {OptionsBody} */
export const merged = (...layers) =>
  Object.fromEntries(Object.entries(Object.assign({}, ...layers)).filter(([, value]) => value !== null));

/**
 * The layer that turns what holds below it into `wanted`.
 * @param {Record<string, any>} below
 * @param {Record<string, any>} wanted
 * @returns {any} may have nulls
 */
export function layerOver(below, wanted) {
  const own = Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(below[name]));
  const taken = Object.keys(below).filter((name) => !(name in wanted));
  return Object.fromEntries([...own, ...taken.map((name) => [name, null])]);
}
