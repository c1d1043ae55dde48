/** The dialog of a chat's public links: create, copy, update, revoke. */

import { readSession } from "../server/api.js";
import { copyButton } from "../elements/copy_button.js";
import { dialog, open } from "../elements/dialogs.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { language, t } from "../i18n.js";
import { createShare, readShares, revokeShare, updateShare } from "../server/shares_api.js";
import { apiErrorText } from "../answer/status_texts.js";

/** @import {Share} from "../server/shares_api.js" */

const DATE = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** @param {{id: string}} session */
export function shareSession(session) {
  open(new ShareDialog(session.id).element);
}

class ShareDialog {
  /** @param {string} session */
  constructor(session) {
    this.session = session;
    this.details = h("input", { type: "checkbox" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.list = h("ul", { class: "shares", "aria-label": t("Links to this chat") });
    const make = h("button", { type: "button", class: "primary", onclick: () => this.#make() }, icon("link"), t("Create a link"));
    const what = t("Anybody with the link reads this branch of the chat as it is now. What comes later is not shown until you update the link.");
    const choice = h("label", { class: "check" }, this.details, t("Show reasoning and what tools did"));
    this.element = dialog(t("Share this chat"), { class: "share" }, h("p", {}, what), choice, h("div", { class: "row" }, make), this.problem, this.list);
    this.#attempt(async () => this.#show(await readShares(session)));
  }

  #make() {
    return this.#attempt(async () => {
      const share = await createShare(this.session, this.details.checked);
      this.#show([share, ...this.shares]);
      /** @type {HTMLElement} */ (this.list.querySelector("input")).focus();
    });
  }

  /** @param {Share} share */
  #update(share) {
    return this.#attempt(async () => {
      const { leaf } = await readSession(this.session);
      const updated = await updateShare(share.id, leaf);
      this.#show(this.shares.map((one) => (one.id === share.id ? updated : one)));
    });
  }

  /** @param {Share} share */
  #revoke(share) {
    return this.#attempt(async () => {
      await revokeShare(share.id);
      this.#show(this.shares.filter((one) => one.id !== share.id));
    });
  }

  /** @param {Share[]} shares newest first */
  #show(shares) {
    this.shares = shares;
    this.list.replaceChildren(...shares.map((share) => this.#row(share)));
  }

  /** @param {Share} share */
  #row(share) {
    const address = share.url === null ? "" : new URL(share.url, location.origin).href;
    const made = DATE.format(new Date(share.created_at));
    const field = h("input", { type: "text", readOnly: true, value: address, "aria-label": t("Link"), onfocus: () => field.select() });
    const link = address ? [field, copyButton(t("Copy the link"), () => address)] : [h("span", { class: "hint" }, t("This link cannot be shown again."))];
    const update = !share.is_current && h("button", { type: "button", class: "quiet", onclick: () => this.#update(share) }, t("Update"));
    const revoke = h("button", { type: "button", class: "quiet danger", onclick: () => this.#revoke(share) }, t("Revoke"));
    const about = share.shows_details ? t("%(when)s, with details", { when: made }) : made;
    return h("li", {}, h("div", { class: "link" }, ...link), h("div", { class: "row" }, h("span", { class: "hint" }, about), update, revoke));
  }

  /** @param {() => Promise<void>} action */
  async #attempt(action) {
    this.problem.hidden = true;
    try {
      await action();
    } catch (error) {
      this.problem.textContent = apiErrorText(error);
      this.problem.hidden = false;
    }
  }
}
