import { make, setText } from './dom.js';
import { Figures } from './figures.js';
import { bytes, count, counted, short } from './numbers.js';
import { placeName } from './places.js';

/** One tier: a folder or a server. */
class TierLine {
  #name = make('span', { class: 'held-title' });
  #size = make('span', { class: 'held-state' });
  #figures = make('p', { class: 'aside' });
  #trouble = make('p', { class: 'aside trouble' });

  constructor() {
    const head = make('div', { class: 'held-head' }, this.#name, this.#size);
    this.element = make('li', {}, head, this.#figures, this.#trouble);
  }

  show(tier) {
    setText(this.#name, `${placeName(tier.place)} ${tier.name.replace(/^rediss?:\/\//, '')}`);
    this.#name.title = tier.name;
    setText(this.#size, tier.bytes === undefined ? '' : bytes(tier.bytes));
    setText(
      this.#figures,
      [
        `${count(tier.hits)} of ${counted(tier.hits + tier.misses, 'blob')} found`,
        `${bytes(tier.bytes_read)} read`,
        `${bytes(tier.bytes_written)} written`,
        `${bytes(tier.bytes_per_second)}/s`,
      ].join(' · '),
    );
    const troubles = [];
    if (tier.failures > 0) {
      troubles.push(counted(tier.failures, 'failure'));
    }
    if (tier.dropped > 0) {
      troubles.push(`${counted(tier.dropped, 'blob')} not written in time`);
    }
    this.#trouble.hidden = troubles.length === 0;
    setText(this.#trouble, troubles.join(' · '));
  }
}

/** The persistent store and its statistics. */
export class StoreSection {
  #figures = new Figures();
  #prompts = make('p', { class: 'aside' });
  #list = make('ul', { class: 'tiers' });
  #lines = [];

  constructor() {
    this.element = make(
      'section',
      { hidden: true },
      make('h3', {}, 'Store'),
      this.#list,
      this.#figures.element,
      this.#prompts,
    );
  }

  /** store is undefined if the server has none. */
  show(store) {
    this.element.hidden = !store;
    if (!store) {
      return;
    }
    this.#figures.show({
      'tokens fetched': count(store.tokens),
      'seconds saved': short(store.seconds_saved),
      'prompt tokens/s': store.prompt_tokens_per_second > 0 ? short(store.prompt_tokens_per_second) : '–',
      'prefixes stored': count(store.kept),
    });
    setText(this.#prompts, this.#came(store));
    store.tiers.forEach((tier, i) => this.#line(i).show(tier));
  }

  #came({ hits, misses, not_worth: notWorth, damaged }) {
    const said = [`${count(hits)} of ${counted(hits + misses, 'prompt')} had a stored prefix`];
    if (notWorth > 0) {
      said.push(`${count(notWorth)} faster to prefill than to fetch`);
    }
    if (damaged > 0) {
      said.push(`${count(damaged)} damaged and prefilled instead`);
    }
    return `${said.join('; ')}.`;
  }

  /** The tiers of a server do not change. */
  #line(i) {
    if (!this.#lines[i]) {
      this.#lines[i] = new TierLine();
      this.#list.append(this.#lines[i].element);
    }
    return this.#lines[i];
  }
}
