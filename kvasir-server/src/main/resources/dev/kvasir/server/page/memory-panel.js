import { byId, make, setText } from './dom.js';
import { Figures } from './figures.js';
import { bytes, count, counted, percent, short } from './numbers.js';
import { Origins } from './origins.js';
import { StoreSection } from './store-section.js';
import { legend, Strip } from './strip.js';

const FOLDED = 'kvasir.memory.folded';

/** How much of the budget is in use, and how much of that can be evicted. */
class Budget {
  #used = make('span', { class: 'used' });
  #kept = make('span', { class: 'kept' });
  #bar = make('div', { class: 'budget-bar', role: 'meter', 'aria-valuemin': 0 }, this.#used, this.#kept);
  #text = make('p', { class: 'budget-text' });

  constructor() {
    this.element = make('div', { class: 'budget' }, this.#bar, this.#text);
  }

  show({ limit, taken, kept }) {
    const share = value => (limit > 0 ? Math.min(1, value / limit) : 0);
    this.#used.style.width = `${100 * share(Math.max(0, taken - kept))}%`;
    this.#kept.style.width = `${100 * share(kept)}%`;
    setText(
      this.#text,
      `${bytes(taken)} of ${bytes(limit)}` +
        (kept > 0 ? `; ${bytes(kept)} of it is the prefix cache` : ''),
    );
    this.#bar.setAttribute('aria-label', 'Memory used');
    this.#bar.setAttribute('aria-valuemax', limit);
    this.#bar.setAttribute('aria-valuenow', taken);
    this.#bar.setAttribute('aria-valuetext', `${bytes(taken)} of ${bytes(limit)}, ${percent(share(taken))}`);
  }
}

/** The open conversation: a bar of its bytes, and its figures. */
class OpenConversation {
  #strip = new Strip(true);
  #figures = new Figures();
  #saved = make('p', { class: 'aside' });
  #absent = make('p', { class: 'aside' }, 'Not in memory; the next message prefills it.');
  #origins = new Origins();
  #held = make('div', {}, this.#strip.element, this.#saved, this.#figures.element);

  constructor() {
    this.element = make(
      'section',
      {},
      make('h3', {}, 'This conversation'),
      this.#held,
      this.#absent,
      this.#origins.element,
    );
  }

  /** timings are those of its last response, if any. */
  show(held, context, timings) {
    this.#origins.show(timings);
    this.#held.hidden = !held;
    this.#absent.hidden = Boolean(held);
    if (held) {
      const { tokens, values_bytes_fp16: full } = held;
      this.#strip.show(held.strip);
      this.#figures.show({
        [context ? `tokens of ${count(context)}` : 'tokens']: count(tokens),
        used: bytes(held.bytes),
        'bits per value': short(held.bits),
        'in fp16': bytes(full),
      });
      setText(this.#saved, full > 0 ? `The frame is fp16; the cache takes ${percent(held.bytes / full)} of it.` : '');
    }
  }
}

/** One of the conversations in the server's memory. */
class HeldLine {
  #title = make('span', { class: 'held-title' });
  #open = make('button', { type: 'button', class: 'held-open' });
  #state = make('span', { class: 'held-state' });
  #strip = new Strip();
  #figures = make('p', { class: 'aside' });

  constructor(onOpen) {
    this.#open.addEventListener('click', () => onOpen());
    this.element = make(
      'li',
      {},
      make('div', { class: 'held-head' }, this.#title, this.#open, this.#state),
      this.#strip.element,
      this.#figures,
    );
  }

  /** title is null for a conversation of another browser. */
  show(held, title) {
    this.#title.hidden = title !== null;
    this.#open.hidden = title === null;
    setText(this.#title, held.key === null ? 'Unnamed' : 'Another client');
    setText(this.#open, title ?? '');
    setText(this.#state, held.state);
    this.#state.dataset.state = held.state;
    this.#strip.show(held.strip);
    const figures = [counted(held.tokens, 'token'), bytes(held.bytes), `${short(held.bits)} bits`, held.kv];
    setText(this.#figures, figures.join(' · '));
  }
}

/** Returns one of several cached prefixes of a conversation: the running one, else the longest. */
function longest(held) {
  const rank = ({ state, tokens }) => (state === 'running' ? Infinity : tokens);
  const best = new Map();
  held.forEach((one, i) => {
    const name = one.key ?? i;
    if (!best.has(name) || rank(one) > rank(best.get(name))) {
      best.set(name, one);
    }
  });
  return [...best.values()];
}

/** The live memory panel: bytes and bit widths of all conversations, and the budget. */
export class MemoryPanel {
  #body = byId('memory-body');
  #fold = byId('fold-memory');
  #budget = new Budget();
  #figures = new Figures();
  #prefix = make('p', { class: 'aside' });
  #open = new OpenConversation();
  #store = new StoreSection();
  #list = make('ul', { class: 'held' });
  #lines = new Map();
  #none = make('p', { class: 'aside' }, 'No cached conversations.');
  #away = make('p', { class: 'aside', role: 'status' });
  #live;
  #onOpen;

  /** onOpen(key) opens a conversation of this browser. */
  constructor(onOpen) {
    this.#onOpen = onOpen;
    this.#live = make(
      'div',
      { class: 'memory-live', hidden: true },
      make('section', {}, this.#budget.element, this.#figures.element, this.#prefix),
      make('section', {}, make('h3', {}, 'Bits per value, with scales'), legend()),
      this.#open.element,
      this.#store.element,
      make('section', {}, make('h3', {}, 'All conversations'), this.#list, this.#none),
    );
    this.#body.append(this.#away, this.#live);
    this.#fold.addEventListener('click', () => this.#setFolded(!this.#isFolded(), true));
    const kept = localStorage.getItem(FOLDED);
    this.#setFolded(kept === null ? matchMedia('(max-width: 719px)').matches : kept === 'true', false);
  }

  #isFolded() {
    return this.#fold.getAttribute('aria-expanded') === 'false';
  }

  #setFolded(folded, keep) {
    this.#fold.setAttribute('aria-expanded', String(!folded));
    byId('memory').classList.toggle('folded', folded);
    this.#body.hidden = folded;
    if (keep) {
      localStorage.setItem(FOLDED, String(folded));
    }
  }

  /**
   * state is null while the server is unreachable; open is the open conversation's { key, timings };
   * titleOf(key) is null for conversations of other browsers.
   */
  show({ current: state, trouble }, open, titleOf) {
    byId('memory').classList.toggle('away', trouble !== null);
    this.#away.hidden = state !== null;
    setText(this.#away, trouble ?? 'Waiting for the server.');
    if (state === null) {
      return;
    }
    this.#live.hidden = false;
    const { memory, prefix } = state;
    const conversations = longest(state.conversations);
    setText(byId('memory-brief'), `${bytes(memory.taken)} of ${bytes(memory.limit)}`);
    this.#budget.show(memory);
    this.#figures.show({
      'tokens/s': short(state.tokens_per_second),
      running: count(state.running),
      queued: count(state.queued),
      'prompt tokens cached': count(prefix.tokens),
    });
    setText(
      this.#prefix,
      `${count(prefix.hits - (prefix.far ?? 0))} of ${counted(prefix.queries, 'prompt')} had a cached prefix.`,
    );
    const held = conversations.find(({ key }) => key === open.key);
    this.#open.show(held, state.context, open.timings);
    this.#store.show(state.store);
    this.#showList(conversations, titleOf);
  }

  #showList(conversations, titleOf) {
    this.#none.hidden = conversations.length > 0;
    const names = conversations.map(({ key }, i) => key ?? `unnamed ${i}`);
    for (const [name, line] of this.#lines) {
      if (!names.includes(name)) {
        line.element.remove();
        this.#lines.delete(name);
      }
    }
    conversations.forEach((held, i) => {
      if (!this.#lines.has(names[i])) {
        this.#lines.set(names[i], new HeldLine(() => this.#onOpen(held.key)));
      }
      const line = this.#lines.get(names[i]);
      line.show(held, held.key === null ? null : titleOf(held.key));
      if (this.#list.children[i] !== line.element) {
        this.#list.insertBefore(line.element, this.#list.children[i] ?? null);
      }
    });
  }
}
