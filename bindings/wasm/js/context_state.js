// What is known of one MLContext: the calls that wait behind an import, in order, and the tensors whose
// import failed.
import { stateError } from './errors.js';

export class ContextState {
  #items = [];
  #running = false;
  #idleWaiters = [];
  /** Why the context is of no use any more: null while it is. */
  gone = null;
  /** Whether a tensor of it may hold a failure. */
  anyFailed = false;

  constructor(context) {
    context.lost?.then?.((info) => { this.gone ??= `lost: ${info?.message ?? 'no reason given'}`; }, () => {});
  }

  get busy() { return this.#running; }
  get pending() { return this.#items.length + (this.#running ? 1 : 0); }

  /** Throws as the platform does when the context is lost or destroyed. */
  checkAlive() {
    if (this.gone !== null) throw stateError('InvalidStateError', `context: is ${this.gone}`);
  }

  /** Runs `item` when all before it have: now, if there are none. It handles its own errors. */
  push(item) {
    this.#items.push(item);
    if (!this.#running) this.#drain();
  }

  /** Resolves when nothing waits. */
  whenIdle() {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => { this.#idleWaiters.push(resolve); });
  }

  async #drain() {
    this.#running = true;
    while (this.#items.length > 0) {
      const result = this.#items.shift()();
      // Calls that only had to wait follow one another without a pause.
      if (result !== undefined) await result;
    }
    this.#running = false;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
