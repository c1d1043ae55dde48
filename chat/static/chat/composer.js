/** Where the next message is written. Enter sends, Shift+Enter breaks the line. */

export class Composer {
  /**
   * @param {HTMLFormElement} form
   * @param {{send: (text: string) => Promise<boolean>, stop: () => void}} actions send resolves to: was it accepted
   */
  constructor(form, actions) {
    this.field = form.querySelector("textarea");
    this.sendButton = form.querySelector("[data-send]");
    this.stopButton = form.querySelector("[data-stop]");
    this.actions = actions;
    this.isSending = false;
    this.isAnswering = false;
    form.addEventListener("submit", (event) => this.#submit(event));
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("input", () => this.#show());
    this.stopButton.addEventListener("click", () => actions.stop());
    this.#show();
  }

  /** @param {{isAnswering: boolean, canStop: boolean, isStopping: boolean}} now isAnswering: the tip is unfinished */
  update({ isAnswering, canStop, isStopping }) {
    this.isAnswering = isAnswering;
    const hadFocus = document.activeElement === this.stopButton;
    this.stopButton.hidden = !canStop;
    this.stopButton.disabled = isStopping;
    this.stopButton.textContent = isStopping ? "Stopping…" : "Stop";
    this.sendButton.hidden = isAnswering;
    if (hadFocus && !canStop) this.focus();
    this.#show();
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  #show() {
    this.sendButton.disabled = this.isSending || this.isAnswering || !this.field.value.trim();
  }

  #key(event) {
    // isComposing: Enter then belongs to the input method (Chinese, Japanese, Korean).
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#submit(event);
  }

  async #submit(event) {
    event.preventDefault();
    const text = this.field.value;
    if (this.isSending || this.isAnswering || !text.trim()) return;
    this.isSending = true;
    this.field.value = "";
    this.#show();
    const isAccepted = await this.actions.send(text);
    this.isSending = false;
    // Not accepted: back into the field, unless something new was typed meanwhile.
    if (!isAccepted && !this.field.value) this.field.value = text;
    this.#show();
  }
}
