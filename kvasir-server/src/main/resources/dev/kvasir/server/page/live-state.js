import { eventsOf } from './event-stream.js';

const POLL_MS = 2000;
/** Polls between attempts to reopen the stream. */
const POLLS_A_TRY = 15;

const pause = ms => new Promise(done => setTimeout(done, ms));
const once = (target, name) =>
  new Promise(done => target.addEventListener(name, done, { once: true }));

/**
 * The live state of the server, from its event stream, or by polling if that fails. Fires "state".
 * A hidden page reads nothing, since browsers allow six connections per server for all tabs.
 */
export class LiveState extends EventTarget {
  #server;
  #stream = null;
  /** The state; null while the server is unreachable, and then trouble has the reason. */
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
        // Wait until a key is given.
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
