/** The dialog in which staff manage the providers of models: a list, and a view of each. */

import { ask, attemptOrClose, dialog, open } from "../elements/dialogs.js";
import { editProvider, deleteProvider, readProviders } from "./provider_forms.js";
import { h } from "../elements/element.js";
import { icon, iconButton } from "../elements/icons.js";
import { showRows } from "../elements/forms.js";
import { t, tn } from "../i18n.js";
import { ProviderView } from "./provider_view.js";

/** @import {Provider} from "./provider_forms.js" */

/** @param {(error: any) => void} failed @param {{adds?: boolean}} [how] adds: with the form of a new one */
export async function openProviders(failed, { adds = false } = {}) {
  const providers = new ProvidersDialog(failed);
  open(providers.dialog);
  await providers.list();
  if (adds && providers.dialog.open) await providers.create();
}

class ProvidersDialog {
  /** @param {(error: any) => void} failed */
  constructor(failed) {
    this.failed = failed;
    /** @type {ProviderView|null} */
    this.view = null;
    this.canStoreKeys = false;
    this.place = h("div", { class: "managed-rows" });
    this.dialog = dialog(
      t("Model providers"),
      { class: "large", isKept: true, closed: () => this.view?.leave() },
      this.place,
    );
    this.dialog.addEventListener("cancel", (event) => this.#leave(event));
  }

  /** Reads the list anew; the dialog is left if it cannot be read. */
  list() {
    this.view?.leave();
    this.view = null;
    return this.#attempt(async () => {
      const { results, can_store_keys } = await readProviders();
      this.canStoreKeys = can_store_keys;
      const rows = results.map((provider) => this.#row(provider, can_store_keys));
      const unset =
        !can_store_keys &&
        h(
          "p",
          { class: "hint" },
          t("Keys cannot be stored: set SECRETS_KEYS for web and the llm workers, and start them again."),
          " ",
          h("code", {}, "openssl rand -base64 32"),
        );
      showRows(this.place, rows, {
        symbol: "model",
        none: t("Add the address of an OpenAI-compatible server, and choose which of its models people may ask."),
        create: t("Add a model provider"),
        onCreate: () => this.create(),
        above: unset,
      });
    });
  }

  /** @param {Provider} provider @param {boolean} canStoreKeys */
  #row(provider, canStoreKeys) {
    const name = provider.is_environment ? t("Server of the environment") : provider.name;
    const about = h("span", { class: "hint" }, [stateText(provider), provider.base_url].filter(Boolean).join(" · "));
    const show = h(
      "button",
      { type: "button", class: "whole", onclick: () => this.#show(provider, canStoreKeys) },
      h("strong", { dir: "auto" }, name),
      about,
    );
    if (provider.is_environment) return h("li", {}, icon("model"), show);
    const away = iconButton(t("Delete %(name)s", { name }), "trash", () => this.#remove(provider));
    return h("li", {}, icon("model"), show, away);
  }

  /** @param {Provider} provider @param {boolean} canStoreKeys */
  #show(provider, canStoreKeys) {
    this.view = new ProviderView(provider, { canStoreKeys, back: () => this.list() });
    this.place.replaceChildren(this.view.element);
    this.view.back.focus();
    return this.view;
  }

  /** A new one is checked at once: the list of its models is what comes next. */
  async create() {
    const made = await editProvider(null, this.canStoreKeys);
    if (made && this.dialog.open) await this.#show(made, this.canStoreKeys).check();
  }

  /** @param {Provider} provider */
  async #remove(provider) {
    const what = h(
      "p",
      {},
      t("Its key is deleted, and its models are not offered any more. Their answers stay in the chats."),
    );
    if (!(await ask(t("Delete %(name)s?", { name: provider.name }), { yes: t("Delete") }, what))) return;
    await this.#attempt(() => deleteProvider(provider.id));
    if (this.dialog.open) await this.list();
  }

  /** Escape: returns from a provider to the list, or closes the list. @param {Event} event */
  #leave(event) {
    if (!this.view || event.target !== this.dialog) return;
    event.preventDefault();
    void this.list();
  }

  /** @param {() => Promise<any>} action */
  #attempt(action) {
    return attemptOrClose(this.dialog, action, this.failed);
  }
}

/** @param {Provider} provider */
function stateText({ is_enabled, models, latest_check }) {
  if (!is_enabled) return t("disabled");
  if (latest_check?.error || latest_check?.test_error) return t("the latest test failed");
  return tn("one model offered", "%(count)s models offered", models.filter(({ enabled }) => enabled).length);
}
