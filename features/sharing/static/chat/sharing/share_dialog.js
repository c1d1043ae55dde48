/** The dialog of a chat's public links: create, copy, look at, change, update, revoke. */

import { readSession, call } from "../server/api.js";
import { copyButton } from "../elements/copy_button.js";
import { dialog, open } from "../elements/dialogs.js";
import { oneAtATime } from "../elements/forms.js";
import { h } from "../elements/element.js";
import { icon } from "../elements/icons.js";
import { language, t, tn } from "../i18n.js";
import { apiErrorText } from "../answer/status_texts.js";

const DATE = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** The days until a new end; 0: no end. */
const ENDS = [0, 1, 7, 30, 90];

/** @param {{id: string}} session */
export function shareSession(session) {
  open(new ShareDialog(session.id).element);
}

class ShareDialog {
  /** @param {string} session */
  constructor(session) {
    this.session = session;
    /** @type {Share[]} */
    this.shares = [];
    this.details = detailsBox(false);
    this.end = endChoice(null);
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.list = h("ul", { class: "shares", "aria-label": t("Links to this chat") });
    const make = h(
      "button",
      { type: "button", class: "primary", onclick: oneAtATime(() => this.#make()) },
      icon("link"),
      t("Create a link"),
    );
    const what = t(
      "Anybody with the link reads this branch of the chat as it is now. What comes later is not shown until you update the link.",
    );
    const choices = h("div", { class: "choices" }, labelled(this.details), this.end);
    this.element = dialog(
      t("Share this chat"),
      { class: "share" },
      h("p", {}, what),
      choices,
      h("div", { class: "row" }, make),
      this.problem,
      this.list,
    );
    this.#attempt(async () => this.#show(await readShares(session)));
  }

  #make() {
    return this.#attempt(async () => {
      const share = await createShare(this.session, {
        shows_details: this.details.checked,
        expires_in_days: Number(this.end.value) || null,
      });
      this.#show([share, ...this.shares]);
      /** @type {HTMLElement} */ (this.list.querySelector("input")).focus();
    });
  }

  /** Whatever comes of it, the row shows what is stored. @param {Share} share @param {() => Promise<ShareBody>} fields */
  #change(share, fields) {
    return this.#attempt(async () => {
      try {
        share = await changeShare(share.id, await fields());
      } finally {
        this.#show(this.shares.map((one) => (one.id === share.id ? share : one)));
      }
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
    const field = h("input", {
      type: "text",
      readOnly: true,
      value: address,
      "aria-label": t("Link"),
      onfocus: () => field.select(),
    });
    const link = address
      ? [field, copyButton(t("Copy the link"), () => address)]
      : [h("span", { class: "hint" }, t("This link cannot be shown again."))];
    const details = detailsBox(share.shows_details);
    details.addEventListener("change", () => this.#change(share, async () => ({ shows_details: details.checked })));
    const end = endChoice(share.expires_at);
    end.addEventListener("change", () =>
      this.#change(share, async () => ({ expires_in_days: Number(end.value) || null })),
    );
    const look =
      address && !isOver(share) && h("a", { class: "button quiet", href: address, target: "_blank" }, t("Look at it"));
    const latest = async () => ({ leaf: (await readSession(this.session)).leaf });
    const update =
      !share.is_current &&
      h("button", { type: "button", class: "quiet", onclick: () => this.#change(share, latest) }, t("Update the link"));
    const revoke = h(
      "button",
      { type: "button", class: "quiet danger", onclick: () => this.#revoke(share) },
      t("Revoke"),
    );
    const made = h(
      "span",
      { class: "hint" },
      t("Shared on %(when)s", { when: DATE.format(new Date(share.created_at)) }),
    );
    return h(
      "li",
      {},
      h("div", { class: "link" }, ...link),
      h("div", { class: "choices" }, labelled(details), end),
      h("div", { class: "row" }, made, look, update, revoke),
    );
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

/** @param {boolean} checked */
const detailsBox = (checked) => h("input", { type: "checkbox", checked });

/** @param {HTMLInputElement} details */
const labelled = (details) => h("label", { class: "check" }, details, t("Show reasoning and what tools did"));

/** @param {Share} share */
const isOver = ({ expires_at: end }) => end !== null && new Date(end) <= new Date();

/** @param {string|null} end */
function endChoice(end) {
  const choices = ENDS.map((days) =>
    h(
      "option",
      { value: String(days) },
      days ? tn("Ends in %(count)s day", "Ends in %(count)s days", days) : t("No end"),
    ),
  );
  const kept = end === null ? [] : [h("option", { value: "", disabled: true, selected: true }, endText(end))];
  return h("select", { "aria-label": t("End of the link") }, ...kept, ...choices);
}

/** @param {string} end */
function endText(end) {
  const when = DATE.format(new Date(end));
  return new Date(end) <= new Date() ? t("Ended on %(when)s", { when }) : t("Ends on %(when)s", { when });
}

/** @typedef {ShareAnswer} Share */

/** @param {string} session @returns {Promise<Share[]>} open links, newest first */
const readShares = (session) => call("GET", `sessions/${session}/shares/`);

/** @param {string} session @param {ShareBody} fields @returns {Promise<Share>} */
const createShare = (session, fields) => call("POST", `sessions/${session}/shares/`, fields);

/** @param {string} share @param {ShareBody} fields @returns {Promise<Share>} */
const changeShare = (share, fields) => call("PATCH", `shares/${share}/`, fields);

/** @param {string} share */
const revokeShare = (share) => call("DELETE", `shares/${share}/`);
