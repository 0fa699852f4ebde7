const KEPT_AS = 'kvasir.key';

/** An error message for the user; retryAt is a time in milliseconds or null. */
export class ServerError extends Error {
  constructor(message, { status = 0, retryAt = null } = {}) {
    super(message);
    this.status = status;
    this.retryAt = retryAt;
  }
}

/** Retry-After is a number of seconds or a date. */
function retryTime(response) {
  const value = response.headers.get('Retry-After');
  if (value === null) {
    return null;
  }
  const time = /^\d+$/.test(value.trim()) ? Date.now() + 1000 * Number(value) : Date.parse(value);
  return Number.isFinite(time) ? time : null;
}

async function refusal(response) {
  let message = null;
  try {
    message = (await response.json()).error.message;
  } catch {
    // A proxy may have responded in its own format.
  }
  return new ServerError(message || `The server answered with status ${response.status}.`, {
    status: response.status,
    retryAt: retryTime(response),
  });
}

/** Sends requests with the key, and asks the user for one if the server requires it; fires "key". */
export class Server extends EventTarget {
  #askForKey;
  #asked = null;

  /** askForKey(refused) resolves to a key, or null if the user gives none. */
  constructor(askForKey) {
    super();
    this.#askForKey = askForKey;
  }

  async request(path, { method = 'GET', body, signal } = {}) {
    for (;;) {
      const key = sessionStorage.getItem(KEPT_AS);
      const response = await this.#fetch(path, key, method, body, signal);
      if (response.ok) {
        return response;
      }
      if (response.status !== 401) {
        throw await refusal(response);
      }
      await this.#otherThan(key);
    }
  }

  async #fetch(path, key, method, body, signal) {
    const headers = {};
    if (key !== null) {
      headers.Authorization = `Bearer ${key}`;
    }
    if (body !== undefined) {
      headers['Content-Type'] = 'application/json';
    }
    try {
      return await fetch(path, { method, headers, signal, body: body && JSON.stringify(body) });
    } catch (failure) {
      if (signal?.aborted) {
        throw failure;
      }
      throw new ServerError('The server cannot be reached.');
    }
  }

  /** Concurrent requests without a valid key share one dialog. */
  async #otherThan(refused) {
    if (sessionStorage.getItem(KEPT_AS) !== refused) {
      return;
    }
    this.#asked ??= this.#askForKey(refused !== null).finally(() => (this.#asked = null));
    const key = await this.#asked;
    if (key === null) {
      throw new ServerError('This server needs a key.', { status: 401 });
    }
    if (sessionStorage.getItem(KEPT_AS) !== key) {
      sessionStorage.setItem(KEPT_AS, key);
      this.dispatchEvent(new Event('key'));
    }
  }
}
