/**
 * Runs before the form exists, so that nothing typed into it and no click is lost while the page's modules load:
 * Enter is remembered and does not submit the form; the latest click on a button is made again when the page has started.
 * The sidebar and the form are where they will be before the first frame is painted. Not a module, because modules run
 * later.
 */

(() => {
  // As in frame/sidebar.js.
  const isWide = matchMedia("(min-width: 52rem)").matches;
  document.body.classList.toggle("with-sidebar", isWide && localStorage.getItem("turnwire.sidebar") !== "folded");
  // A new chat: the form stands in the middle. As in page.js.
  document.body.classList.toggle("begins", location.hash.length < 2);
  const FORM = "composer";
  /** @param {Event} event */
  const remember = (event) => {
    const form = /** @type {HTMLElement} */ (event.target).closest?.("form");
    // "ready": the composer handles keys now.
    if (form?.id !== FORM || "ready" in form.dataset) return;
    event.preventDefault();
    const field = form.querySelector("textarea");
    if (!field?.value.trim()) return;
    form.dataset.entered = "";
    form.ariaBusy = "true";
    // The text at the time of Enter is sent.
    field.readOnly = true;
  };
  addEventListener("submit", remember, true);
  const early = new AbortController();
  /** @type {HTMLElement|null} */
  let clicked = null;
  addEventListener(
    "click",
    (event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest?.('button[type="button"]');
      if (button) clicked = /** @type {HTMLElement} */ (button);
    },
    { capture: true, signal: early.signal },
  );
  // Of composer/composer.js.
  addEventListener("ready", () => (early.abort(), clicked?.click()), { once: true });
  addEventListener(
    "keydown",
    (event) => {
      const isInField = /** @type {HTMLElement} */ (event.target).matches?.("textarea");
      // As in settings/preferences.js and composer.js.
      const isTouched = matchMedia("(hover: none) and (pointer: coarse)").matches;
      const sendKey = localStorage.getItem("turnwire.sendKey") ?? (isTouched ? "ctrl-enter" : "enter");
      const isPlain = sendKey !== "ctrl-enter" || event.ctrlKey || event.metaKey;
      // As in elements/text_field.js.
      const isComposing = event.isComposing || event.keyCode === 229;
      const isSending = isPlain && !event.shiftKey && !event.altKey && !isComposing;
      if (isInField && event.key === "Enter" && isSending) remember(event);
    },
    true,
  );
})();
