/** The ring in the bar: how full the context windows of the models are that answered last. */

import { percent } from "../elements/formats.js";
import { readRun } from "../server/api.js";
import { t } from "../i18n.js";
import { levelOf, measuredRuns, shareOf } from "./context_parts.js";

/** @import {LiveSession} from "../server/live_session.js" */
/** @import {MeasuredRun} from "../types.js" */

const SVG = "http://www.w3.org/2000/svg";
const RADIUS = 9;

export class ContextMeter {
  /**
   * @param {HTMLButtonElement} button
   * @param {{live: () => LiveSession|null, reveal: (message: string) => void, failed: (error: Error) => void}} page
   */
  constructor(button, page) {
    this.button = button;
    this.page = page;
    this.session = "";
    /** What is shown, or being read: the runs. */
    this.shown = "";
    /** @type {MeasuredRun[]} */
    this.runs = [];
    /** @type {import("./context_card.js").ContextCard|null} */
    this.card = null;
    this.share = this.#drawRing();
    button.addEventListener("click", () => this.#open());
  }

  /** The open session, or something in it, may have changed. */
  follow() {
    const state = this.page.live()?.state ?? null;
    if (this.session !== (state?.session ?? "")) {
      this.session = state?.session ?? "";
      this.shown = "";
      this.#show([]);
    }
    const runs = state ? measuredRuns(state) : [];
    const wanted = runs.map(({ run, attempt }) => `${run} ${attempt}`).join();
    if (!wanted || wanted === this.shown) return;
    this.shown = wanted;
    this.#read(
      runs.map(({ run }) => run),
      wanted,
    );
  }

  /** @param {string[]} runs @param {string} wanted */
  async #read(runs, wanted) {
    try {
      const read = await Promise.all(runs.map((run) => readRun(run)));
      if (this.shown === wanted) this.#show(read.filter(({ context }) => context));
    } catch {
      if (this.shown === wanted) this.#show([]); // an ornament: the next answer reads again
    }
  }

  /** @param {MeasuredRun[]} runs */
  #show(runs) {
    this.runs = runs;
    this.button.hidden = runs.length === 0;
    const [fullest] = runs.map(({ context }) => context).toSorted((one, other) => shareOf(other) - shareOf(one));
    if (!fullest) return;
    const share = shareOf(fullest);
    this.button.dataset.level = levelOf(fullest);
    this.share.setAttribute("stroke-dasharray", `${(share * 100).toFixed(1)} 100`);
    this.button.setAttribute("aria-label", t("Context: %(share)s full", { share: percent(share) }));
    this.button.title = this.button.getAttribute("aria-label") ?? "";
  }

  async #open() {
    try {
      const { ContextCard } = await import("./context_card.js");
      this.card ??= new ContextCard(this.button, this.page);
      await this.card.toggle(this.runs);
    } catch (error) {
      this.page.failed(error);
    }
  }

  /** @returns {SVGElement} the arc whose length is the share */
  #drawRing() {
    const ring = document.createElementNS(SVG, "svg");
    ring.setAttribute("viewBox", "0 0 24 24");
    ring.setAttribute("class", "ring");
    ring.setAttribute("aria-hidden", "true");
    const [track, share] = ["track", "share"].map((name) => {
      const circle = document.createElementNS(SVG, "circle");
      for (const [key, value] of Object.entries({ class: name, cx: 12, cy: 12, r: RADIUS, pathLength: 100 }))
        circle.setAttribute(key, String(value));
      return circle;
    });
    ring.append(track, share);
    this.button.append(ring);
    return share;
  }
}
