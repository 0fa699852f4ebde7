import { byId, make } from './dom.js';

const QUESTIONS = [
  'Explain what a KV cache is, to a curious child.',
  'Which words of English came from Old Norse? Make a table.',
  'Plan a week of dinners around lentils.',
];
const BEGINNINGS = [
  'Once upon a time, there was a little fox who',
  'Tom found a small door in the old tree. He',
  'The bees were very busy, because',
];

/** The welcome screen of an empty conversation, with example prompts. */
export class Welcome {
  #place = byId('welcome');
  #shown = null;
  #onChoose;

  /** onChoose(text) receives the chosen example. */
  constructor(onChoose) {
    this.#onChoose = onChoose;
  }

  show(visible, state) {
    this.#place.hidden = !visible;
    const now = state && JSON.stringify([state.model, state.chat, state.kv]);
    if (now === this.#shown && this.#place.hasChildNodes()) {
      return;
    }
    this.#shown = now;
    const chat = state?.chat !== false;
    const beginnings = chat ? QUESTIONS : BEGINNINGS;
    this.#place.replaceChildren(
      make('p', { class: 'welcome-line' }, chat ? 'What would you like to know?' : 'How does the story begin?'),
      make('div', { class: 'braid', 'aria-hidden': 'true' }),
      make('p', { class: 'welcome-note' }, this.#note(state)),
      make('ul', { class: 'beginnings' }, ...beginnings.map(text => this.#beginning(text))),
    );
  }

  #note(state) {
    if (!state) {
      return 'Waiting for the server.';
    }
    const does = state.chat ? 'answers' : 'continues your text';
    return `${state.model} ${does} with the KV cache ${state.kv}. The panel shows its memory.`;
  }

  #beginning(text) {
    return make('li', {}, make('button', { type: 'button', onclick: () => this.#onChoose(text) }, text));
  }
}
