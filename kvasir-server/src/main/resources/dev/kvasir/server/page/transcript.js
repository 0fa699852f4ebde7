import { AnswerView } from './answer-view.js';
import { byId } from './dom.js';
import { QuestionView } from './question-view.js';

/** Distance from the end, in pixels, within which the view follows it. */
const AT_END = 48;

/** The turns of the open conversation. It follows a growing response unless the user scrolled away. */
export class Transcript {
  #place = byId('transcript');
  #list = byId('turns');
  #latest = byId('latest');
  #actions;
  #views = new Map();
  #following = true;
  #frame = 0;
  #conversation = null;
  #running = false;
  #plain = false;

  constructor(actions) {
    this.#actions = actions;
    this.#place.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    this.#latest.addEventListener('click', () => this.followEnd());
    new ResizeObserver(() => this.#keepUp()).observe(this.#place);
  }

  /** Shows a conversation, or updates it. */
  show(conversation, { running, plain }) {
    const other = conversation !== this.#conversation || plain !== this.#plain;
    this.#conversation = conversation;
    this.#running = running;
    this.#plain = plain;
    if (other) {
      this.#list.classList.toggle('continued', plain);
      this.#views.clear();
      this.#list.replaceChildren();
      this.#following = true;
    }
    this.#render();
  }

  /** Tokens are drawn once per frame. */
  refresh(running) {
    this.#running = running;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#updateLast();
    });
  }

  followEnd() {
    this.#following = true;
    this.#keepUp();
  }

  textOf(turn) {
    return this.#views.get(turn)?.element.querySelector(':scope > .prose').textContent ?? '';
  }

  #render() {
    const turns = this.#conversation.turns;
    for (const [turn, view] of this.#views) {
      if (!turns.includes(turn)) {
        view.element.remove();
        this.#views.delete(turn);
      }
    }
    for (const turn of turns) {
      this.#viewOf(turn).update(this.#running, turn === turns.at(-1));
    }
    this.#keepUp();
  }

  #updateLast() {
    const last = this.#conversation.turns.at(-1);
    this.#views.get(last)?.update(this.#running, true);
    this.#keepUp();
  }

  #viewOf(turn) {
    let view = this.#views.get(turn);
    if (!view) {
      view =
        turn.role === 'user'
          ? new QuestionView(turn, this.#actions)
          : new AnswerView(turn, this.#actions, this.#plain);
      this.#views.set(turn, view);
      this.#list.append(view.element);
    }
    return view;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#place;
    this.#following = scrollHeight - scrollTop - clientHeight < AT_END;
    this.#latest.hidden = this.#following;
  }

  #keepUp() {
    if (this.#following) {
      this.#place.scrollTop = this.#place.scrollHeight;
    }
    this.#scrolled();
  }
}
