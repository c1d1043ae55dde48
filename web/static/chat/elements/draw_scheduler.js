/** Schedules drawing: at most once per animation frame, and after a long drawing only once input has been handled. */

/** A drawing that took longer is followed by a pause. */
const CHEAP_MS = 6;
const REST = 2;

export class DrawScheduler {
  constructor() {
    this.frame = 0;
    this.restsUntil = 0;
  }

  /** @param {() => void} draw called once, however often this is asked before */
  drawSoon(draw) {
    this.frame ||= requestAnimationFrame(() => this.#frame(draw));
  }

  /** @param {() => void} draw */
  #frame(draw) {
    this.frame = 0;
    const begin = performance.now();
    if (begin < this.restsUntil) return this.drawSoon(draw);
    draw();
    const took = performance.now() - begin;
    this.restsUntil = took > CHEAP_MS ? begin + took * (1 + REST) : 0;
  }
}
