import { eventsOf } from './event-stream.js';

const POLL_MS = 2000;
/** How often polling gives the stream another chance, in polls. */
const POLLS_A_TRY = 15;

const pause = ms => new Promise(done => setTimeout(done, ms));
const once = (target, name) =>
  new Promise(done => target.addEventListener(name, done, { once: true }));

/**
 * What the server tells of itself, as it changes: by its stream of events, or by asking now and then
 * where that fails. Fires "state". Nothing is read while nobody looks: browsers have six connections
 * for all tabs of a server.
 */
export class LiveState extends EventTarget {
  #server;
  #stream = null;
  /** The state; null while the server cannot be asked, and then trouble says why. */
  current = null;
  trouble = null;

  constructor(server) {
    super();
    this.#server = server;
    document.addEventListener('visibilitychange', () => document.hidden && this.#stream?.abort());
  }

  async run() {
    for (;;) {
      while (document.hidden) {
        await once(document, 'visibilitychange');
      }
      try {
        await this.#ask();
        await this.#follow();
      } catch (failure) {
        this.#tell(null, failure.message);
        // Without a key there is nothing to ask for, until one is given.
        await (failure.status === 401 ? once(this.#server, 'key') : pause(POLL_MS));
      }
    }
  }

  async #ask() {
    const response = await this.#server.request('/kvasir/state');
    this.#tell(await response.json());
  }

  async #follow() {
    this.#stream = new AbortController();
    try {
      const { signal } = this.#stream;
      const response = await this.#server.request('/kvasir/events', { signal });
      for await (const { data } of eventsOf(response.body)) {
        if (data !== undefined) {
          this.#tell(JSON.parse(data));
        }
      }
      await pause(POLL_MS);
    } catch {
      await this.#poll();
    }
  }

  async #poll() {
    for (let i = 0; i < POLLS_A_TRY && !document.hidden; i++) {
      await pause(POLL_MS);
      await this.#ask();
    }
  }

  #tell(state, trouble = null) {
    this.current = state;
    this.trouble = trouble;
    this.dispatchEvent(new CustomEvent('state', { detail: state }));
  }
}
