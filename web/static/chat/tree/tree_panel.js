/**
 * The panel with the tree of the open session, beside the conversation or, on narrow screens, over it, until another
 * session is opened. Loaded on first use.
 */

import * as api from "../server/api.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { t } from "../i18n.js";
import { TreeMap } from "./tree_map.js";
import { TreePreview } from "./tree_preview.js";

/** @import {LiveSession} from "../server/live_session.js" */
/** @import {Place} from "./tree_layout.js" */

/** As in tree.css. */
const BESIDE = "(min-width: 68rem)";
const PAUSE_MS = 250;

export class TreePanel {
  /**
   * @param {object} page
   * @param {() => LiveSession|null} page.live
   * @param {(id: string) => Promise<any>} page.select  makes a message current
   * @param {(id: string) => void} page.reveal  in the conversation
   * @param {(error: any) => void} page.failed
   * @param {(isOpen: boolean) => void} page.toggled
   */
  constructor(page) {
    this.page = page;
    this.isOpen = false;
    /** @type {Pick<import("../types.js").SessionState, "session"|"branch"|"n">|null} what the map was read for */
    this.read = null;
    matchMedia(BESIDE).addEventListener("change", () => this.isOpen && this.#reopen());
  }

  open() {
    this.isOpen = true;
    this.read = null;
    this.preview = new TreePreview(() => this.page.live().state);
    this.map = new TreeMap({ looked: (place) => this.preview.show(place), chosen: (place) => this.#go(place) });
    this.#build();
    this.page.toggled(true);
    this.follow(true);
  }

  close() {
    this.isOpen = false;
    this.dialog?.close();
    this.aside?.remove();
    this.dialog = this.aside = null;
    this.page.toggled(false);
  }

  /** What is shown may have changed: another session, another branch, a new message. @param {boolean} [andFocus] */
  follow(andFocus = false) {
    const live = this.page.live();
    if (!this.isOpen) return;
    const { session, branch, n } = live?.state ?? {};
    if (!live || (this.read && session !== this.read.session)) return this.close();
    if (this.read && branch === this.read.branch && n === this.read.n) return;
    this.read = { session, branch, n };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#read(andFocus), andFocus ? 0 : PAUSE_MS);
  }

  #reopen() {
    this.close();
    this.open();
  }

  #build() {
    const content = [this.map.element, legend(), this.preview.element];
    if (matchMedia(BESIDE).matches) {
      const away = h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": t("Close the tree"),
          title: t("Close the tree"),
          onclick: () => this.close(),
        },
        icon("close"),
      );
      const head = h("header", {}, h("h2", {}, t("Tree")), away);
      this.aside = h("aside", { id: "tree", "aria-label": t("Tree of this chat") }, head, ...content);
      this.aside.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
      document.body.append(this.aside);
    } else {
      const closed = () => this.isOpen && this.close();
      this.dialog = open(dialog(t("Tree of this chat"), { class: "large tree", closed }, ...content));
    }
  }

  /** @param {boolean} andFocus */
  async #read(andFocus) {
    const { session } = this.read;
    try {
      const nodes = await api.readTree(session);
      if (!this.isOpen || session !== this.read.session) return;
      this.map.show(nodes);
      if (andFocus) this.map.focus();
    } catch (error) {
      this.page.failed(error);
    }
  }

  /** @param {Place} place */
  async #go({ node, isCurrent }) {
    // A summary is not part of a branch: it is shown at the last message that it covers.
    const id = node.role === "summary" ? node.last_summarized_message : node.id;
    if (!id) return;
    if (!isCurrent && !(await this.page.select(id))) return;
    if (this.dialog) this.close();
    this.page.reveal(id);
  }
}

/** The legend of the marks, for sighted users. */
function legend() {
  const row = (/** @type {string} */ look, /** @type {string} */ text) =>
    h("li", {}, h("span", { class: `mark ${look}` }), text);
  return h(
    "ul",
    { class: "tree-legend", "aria-hidden": "true" },
    row("of-user current", t("Question")),
    row("of-assistant current", t("Answer")),
    row("of-assistant failed", t("Failed")),
    row("of-summary", t("Summary")),
  );
}
