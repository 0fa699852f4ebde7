import { eventsOf } from './event-stream.js';

const POLL_MS = 2000;
/** How often polling gives the stream another chance, in polls. */
const POLLS_A_TRY = 15;

const pause = ms => new Promise(done => setTimeout(done, ms));

/**
 * What the server tells of itself, as it changes: by its stream of events, or by asking now and then
 * where that fails. Fires "state" with the object, or with null when the server cannot be asked.
 * Nothing is read while nobody looks: browsers have six connections for all tabs of a server.
 */
export class LiveState extends EventTarget {
  #server;
  #wake = null;
  #stream = null;
  current = null;

  constructor(server) {
    super();
    this.#server = server;
    server.addEventListener('key', () => this.#wake?.());
    document.addEventListener('visibilitychange', () => this.#look());
  }

  #look() {
    if (document.hidden) {
      this.#stream?.abort();
    } else {
      this.#wake?.();
    }
  }

  async run() {
    for (;;) {
      if (document.hidden) {
        await new Promise(wake => (this.#wake = wake));
      }
      try {
        await this.#ask();
        await this.#follow();
      } catch (failure) {
        this.#tell(null);
        // Without a key there is nothing to ask for, until one is given.
        await (failure.status === 401 ? new Promise(wake => (this.#wake = wake)) : pause(POLL_MS));
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

  #tell(state) {
    this.current = state;
    this.dispatchEvent(new CustomEvent('state', { detail: state }));
  }
}
