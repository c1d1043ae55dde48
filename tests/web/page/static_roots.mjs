/** Resolves imports of the page's modules as the server does, for which all static folders are one: a feature's and web's. */

import { existsSync, readdirSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const REPOSITORY = new URL("../../../", import.meta.url);
const features = readdirSync(new URL("features/", REPOSITORY), { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);
const roots = ["web", ...features.map(({ name }) => `features/${name}`)].map(
  (app) => new URL(`${app}/static/`, REPOSITORY).href,
);

// Node calls the hook below on a thread of its own, where it imports this module again.
if (isMainThread) register(import.meta.url);

/** @param {string} specifier @param {{parentURL?: string}} context @param {Function} next */
export function resolve(specifier, context, next) {
  const root = specifier.startsWith(".") && roots.find((folder) => context.parentURL?.startsWith(folder));
  if (!root) return next(specifier, context);
  const path = new URL(specifier, context.parentURL).href.slice(root.length);
  const url = roots.map((folder) => folder + path).find((candidate) => existsSync(new URL(candidate)));
  return next(url ?? specifier, context);
}
