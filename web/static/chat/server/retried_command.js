/** A command of the socket that is sent again, after growing pauses, while the server rejects it for the time being. */

import { backOff } from "./socket.js";

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** The errors of REST with status 429 or from 500 on; frames have no status. Others are final. */
/** @type {Set<wire.ErrorCode>} */
const TEMPORARY = new Set(["stream_unavailable", "unavailable", "internal_error", "rate_limited"]);

/** Of the page: two views of one session, one after the other, must not take each other's replies. */
let commands = 0;

export class RetriedCommand {
  /**
   * @param {import("./socket.js").Socket} socket
   * @param {() => wire.SubscribeCommand|wire.WatchSessionsCommand} describe  the command as it is now
   * @param {() => void} rejected  called before each pause: what the command would have brought has to be read by REST
   */
  constructor(socket, describe, rejected) {
    this.socket = socket;
    this.describe = describe;
    this.rejected = rejected;
    this.id = `retried-${(commands += 1)}`;
    this.failures = 0;
    /** @type {ReturnType<typeof setTimeout>|0} */
    this.timer = 0;
  }

  /** @returns {boolean} false: not connected, nothing was sent */
  send() {
    clearTimeout(this.timer);
    return this.socket.send({ ...this.describe(), id: this.id });
  }

  /** One object from the socket. @param {wire.Frame} frame */
  receive(frame) {
    if (!("id" in frame) || frame.id !== this.id) return;
    clearTimeout(this.timer);
    if (frame.type !== "error") this.failures = 0;
    else if (TEMPORARY.has(frame.code)) this.#retryLater();
  }

  /** Sends it no more. */
  close() {
    clearTimeout(this.timer);
    this.id = "";
  }

  #retryLater() {
    const pause = backOff(this.failures, Math.random(), { first: FIRST_RETRY_MS, longest: LONGEST_RETRY_MS });
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), pause);
    this.rejected();
  }
}
