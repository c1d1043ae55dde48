/** The websocket of the page, and its commands that are sent again. */

import { parseJson } from "./exact_json.js";

const FIRST_RETRY_MS = 300;
const LONGEST_RETRY_MS = 10_000;
const PING_EVERY_MS = 20_000;
const SILENCE_LIMIT_MS = 35_000;
/** Browsers wait minutes for the response to a handshake. */
const CONNECT_LIMIT_MS = 10_000;
const SIGNED_OUT = 4401;
const ABANDONED = 4000;
const RESTART = 1012;
const TOO_MANY = 4430;
/** Tries again this rarely while other windows take all connections: each refused window does. */
const REFUSED_RETRY_MS = 30_000;

/** A websocket that reconnects. It splits frames into JSON objects and does not interpret them. */
export class Socket {
  /**
   * @param {string} address
   * @param {object} listener
   * @param {() => void} listener.opened
   * @param {(frame: wire.Frame) => void} listener.received  one JSON object
   * @param {(state: "connected"|"connecting"|"refused"|"signed_out") => void} listener.changed
   */
  constructor(address, listener) {
    this.address = address;
    this.listener = listener;
    this.failures = 0;
    this.isRefused = false;
    this.lastActivity = 0;
    /** @type {ReturnType<typeof setTimeout>|0} */
    this.retry = 0;
    /** @type {WebSocket|null} */
    this.ws = null;
    addEventListener("online", () => this.#reconnectNow());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#reconnectNow());
    setInterval(() => this.#checkConnection(), PING_EVERY_MS);
    this.#connect();
  }

  get isOpen() {
    return this.ws?.readyState === WebSocket.OPEN;
  }

  /** @param {wire.Command} command @returns {boolean} false: not connected, nothing was sent */
  send(command) {
    if (this.isOpen) this.ws?.send(JSON.stringify(command));
    return this.isOpen;
  }

  #connect() {
    clearTimeout(this.retry);
    this.retry = 0;
    const ws = new WebSocket(this.address);
    this.ws = ws;
    this.lastActivity = performance.now();
    ws.onopen = () => this.ws === ws && this.#onOpen();
    ws.onmessage = ({ data }) => this.ws === ws && this.#onFrame(data);
    ws.onclose = ({ code, reason }) => this.ws === ws && this.#onClose(code, reason);
  }

  #onOpen() {
    this.lastActivity = performance.now();
    // A socket too many opens too, to be told so.
    if (!this.isRefused) this.listener.changed("connected");
    this.listener.opened();
  }

  /** @param {string} frame lines */
  #onFrame(frame) {
    this.failures = 0;
    this.lastActivity = performance.now();
    for (const line of frame.split("\n")) {
      if (line.trim()) this.#onObject(parseJson(line));
    }
  }

  /** @param {wire.Frame} frame */
  #onObject(frame) {
    if (this.isRefused && !(frame.type === "error" && frame.code === "too_many_sockets")) {
      this.isRefused = false;
      this.listener.changed("connected");
    }
    this.listener.received(frame);
  }

  /** @param {number} code @param {string} [reason] */
  #onClose(code, reason = "") {
    this.ws = null;
    if (code === SIGNED_OUT) return this.listener.changed("signed_out");
    this.isRefused ||= code === TOO_MANY;
    this.listener.changed(this.isRefused ? "refused" : "connecting");
    const pause = pauseAfter(code, reason, this.failures);
    this.failures += 1;
    this.retry = setTimeout(() => this.#connect(), pause);
  }

  /** After sleep or offline time: reconnects at once instead of after the pause, and checks an open connection. */
  #reconnectNow() {
    if (this.retry) {
      this.failures = 0;
      this.#connect();
    } else {
      this.#checkConnection();
    }
  }

  #checkConnection() {
    if (!this.ws) return;
    if (isUnresponsive(this.isOpen, performance.now() - this.lastActivity)) {
      // Does not wait for the close event, which never arrives when the network is gone.
      const silent = this.ws;
      this.#onClose(ABANDONED);
      silent.close(ABANDONED);
      return;
    }
    this.send({ type: "ping" });
  }
}

/** @param {boolean} isOpen @param {number} silentMs since the latest frame, or the start of the handshake */
export function isUnresponsive(isOpen, silentMs) {
  return silentMs > (isOpen ? SILENCE_LIMIT_MS : CONNECT_LIMIT_MS);
}

/** @param {number} code @param {string} reason @param {number} failures @returns {number} ms */
export function pauseAfter(code, reason, failures) {
  if (code === TOO_MANY) return REFUSED_RETRY_MS * (1 + Math.random());
  return (code === RESTART && requestedPause(reason)) || backOff(failures, Math.random());
}

/** @param {string} reason @returns {number|null} the pause in ms that a restarting server asks this socket for */
export function requestedPause(reason) {
  const match = /retry_after_s=(\d+(\.\d+)?)/.exec(reason);
  return match && Math.min(Number(match[1]) * 1000, LONGEST_RETRY_MS);
}

/**
 * Exponential back-off, half of it random, so that clients do not come back at the same time.
 * @param {number} failures @param {number} chance from 0 to 1 @param {{first: number, longest: number}} [limits] ms
 */
export function backOff(failures, chance, { first, longest } = { first: FIRST_RETRY_MS, longest: LONGEST_RETRY_MS }) {
  const pause = Math.min(first * 2 ** failures, longest);
  return pause / 2 + (chance * pause) / 2;
}

const FIRST_REPEAT_MS = 1_000;
const LONGEST_REPEAT_MS = 30_000;
/** The errors of REST with status 429 or from 500 on; frames have no status. Others are final. */
/** @type {Set<wire.ErrorCode>} */
const TEMPORARY = new Set(["stream_unavailable", "unavailable", "internal_error", "rate_limited"]);

/** Of the page: two views of one session, one after the other, must not take each other's replies. */
let commands = 0;

/** A command of the socket that is sent again, after growing pauses, while the server rejects it for the time being. */
export class RetriedCommand {
  /**
   * @param {Socket} socket
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
    const pause = backOff(this.failures, Math.random(), { first: FIRST_REPEAT_MS, longest: LONGEST_REPEAT_MS });
    this.failures += 1;
    this.timer = setTimeout(() => this.send(), pause);
    this.rejected();
  }
}
