/**
 * Conversations in the browser's storage, each under its own key, so that tabs do not overwrite each
 * other. Fires "change" when the list changes.
 *
 * A conversation is { id, title, named, updated, settings, turns }; a turn { role, content, state }
 * with state "streaming", "done", "stopped" or "failed", and for responses reasoning, error, finish,
 * usage, timings and progress.
 */
const PREFIX = 'kvasir.conversation.';
const LATEST_SETTINGS = 'kvasir.settings';
const TITLE_LENGTH = 60;

/** Not randomUUID, which needs a secure origin. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}

function titleFrom(text) {
  const line = text.trim().split('\n')[0].replace(/\s+/g, ' ');
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1).trimEnd()}…`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export class Conversations extends EventTarget {
  #all = new Map();

  constructor() {
    super();
    for (const name of Object.keys(localStorage).filter(key => key.startsWith(PREFIX))) {
      this.#take(localStorage.getItem(name));
    }
    window.addEventListener('storage', event => this.#follow(event));
  }

  /** Responses that were streaming when the page was closed have stopped. */
  #take(text) {
    const conversation = parsed(text);
    if (!Array.isArray(conversation?.turns)) {
      return;
    }
    for (const turn of conversation.turns) {
      if (turn.state === 'streaming') {
        turn.state = 'stopped';
      }
    }
    this.#all.set(conversation.id, conversation);
  }

  /** Another tab has written. A conversation that streams here belongs to this tab. */
  #follow({ key, newValue }) {
    if (!key?.startsWith(PREFIX)) {
      return;
    }
    const id = key.slice(PREFIX.length);
    if (this.#all.get(id)?.turns.at(-1)?.state === 'streaming') {
      return;
    }
    if (newValue === null) {
      this.#all.delete(id);
    } else {
      this.#take(newValue);
    }
    this.#changed();
  }

  newestFirst() {
    return [...this.#all.values()].sort((a, b) => b.updated - a.updated);
  }

  find(id) {
    return this.#all.get(id);
  }

  /** Listed and stored from its first message on. */
  begin() {
    const settings = parsed(localStorage.getItem(LATEST_SETTINGS)) ?? {};
    return { id: newId(), title: 'New conversation', named: false, updated: 0, settings, turns: [] };
  }

  addQuestion(conversation, content) {
    conversation.turns.push({ role: 'user', content, state: 'done' });
    if (!conversation.named && conversation.turns.length === 1) {
      conversation.title = titleFrom(content);
    }
    this.touch(conversation);
  }

  /** Removes this turn and all after it. */
  cutBefore(conversation, turn) {
    conversation.turns.length = conversation.turns.indexOf(turn);
  }

  rename(conversation, title) {
    conversation.title = title;
    conversation.named = true;
    this.save(conversation);
    this.#changed();
  }

  configure(conversation, settings) {
    conversation.settings = settings;
    localStorage.setItem(LATEST_SETTINGS, JSON.stringify(settings));
    if (this.#all.has(conversation.id)) {
      this.save(conversation);
    }
    this.#changed();
  }

  touch(conversation) {
    conversation.updated = Date.now();
    this.#all.set(conversation.id, conversation);
    this.save(conversation);
    this.#changed();
  }

  delete(conversation) {
    this.#all.delete(conversation.id);
    localStorage.removeItem(PREFIX + conversation.id);
    this.#changed();
  }

  /** Returns false if the storage is full; the conversation then exists in this tab only. */
  save(conversation) {
    if (!this.#all.has(conversation.id)) {
      return true;
    }
    try {
      localStorage.setItem(PREFIX + conversation.id, JSON.stringify(conversation));
      return true;
    } catch {
      this.dispatchEvent(new Event('full'));
      return false;
    }
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }
}
