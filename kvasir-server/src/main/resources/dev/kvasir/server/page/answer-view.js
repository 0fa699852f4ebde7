import { copyFrom } from './clipboard.js';
import { iconButton, make, setText } from './dom.js';
import { icon, rune } from './icons.js';
import { MarkdownView } from './markdown.js';
import { count, counted, short } from './numbers.js';

/** Returns the figures below a response. */
function figures({ usage, timings }) {
  const said = [];
  const written = usage?.completion_tokens ?? timings?.predicted_n;
  const known = usage?.prompt_tokens_details?.cached_tokens ?? timings?.cache_n;
  if (written !== undefined) {
    said.push(counted(written, 'token'));
  }
  if (timings?.predicted_per_second) {
    said.push(`${short(timings.predicted_per_second)} tokens/s`);
  }
  if (usage?.prompt_tokens && known !== undefined) {
    said.push(`${count(known)} of ${count(usage.prompt_tokens)} prompt tokens cached`);
  }
  return said.join(' · ');
}

/** Returns why a response ended early. */
function ending({ state, finish }) {
  if (state === 'stopped') {
    return 'Stopped.';
  }
  return state === 'done' && finish === 'length' ? 'Stopped at the token limit.' : '';
}

function complaint({ message, retryAt }) {
  if (!retryAt) {
    return message;
  }
  const seconds = Math.ceil((retryAt - Date.now()) / 1000);
  if (seconds <= 0) {
    return `${message} You can try again now.`;
  }
  const span = seconds <= 120 ? counted(seconds, 'second') : counted(Math.ceil(seconds / 60), 'minute');
  return `${message} Try again in ${span}.`;
}

/** Creates an icon, with its name if it is the suggested action. */
function spelledButton(drawing, name, kind, onclick) {
  const button = iconButton(icon(drawing), name, onclick, { class: `quiet square ${kind}` });
  button.append(make('span', { class: 'spelled' }, name));
  return button;
}

/** Plain text, for models that continue texts. */
class PlainView {
  constructor(place) {
    this.place = place;
    place.classList.add('plain');
  }

  /** The space between the prompt and its continuation is not shown. */
  show(text) {
    setText(this.place, text.trimStart());
  }
}

/** A response from its request on: progress, reasoning, text, errors, figures. */
export class AnswerView {
  #turn;
  #reasoning;
  #thoughts;
  #thinking = make('summary', {}, 'Thoughts');
  #prose = make('div', { class: 'prose' });
  #view;
  #progress = make('progress', { 'aria-label': 'Prompt read', max: 1 });
  #waiting = make('p', { class: 'waiting' });
  #waitingText = make('span');
  #ending = make('p', { class: 'ending' });
  #error = make('p', { class: 'error' });
  #figures = make('span', { class: 'figures' });
  #copy = iconButton(icon('copy'), 'Copy answer', event => copyFrom(event.currentTarget, this.#turn.content));
  #retry;
  #further;
  #clock = null;

  /** actions.retry(turn) regenerates it; actions.extend(turn), if present, continues it. */
  constructor(turn, actions, plain) {
    this.#turn = turn;
    this.#view = plain ? new PlainView(this.#prose) : new MarkdownView(this.#prose);
    this.#retry = spelledButton('again', 'Try again', 'retry', () => actions.retry(turn));
    this.#further = spelledButton('further', 'Continue', 'further', () => actions.extend(turn));
    const thoughts = make('div', { class: 'prose' });
    this.#thoughts = new MarkdownView(thoughts);
    this.#reasoning = make('details', { class: 'reasoning' }, this.#thinking, thoughts);
    this.#waiting.append(this.#waitingText, this.#progress);
    this.element = make(
      'li',
      { class: 'turn answer' },
      make('h2', { class: 'unseen' }, plain ? 'Continued' : 'Kvasir'),
      rune(),
      this.#reasoning,
      this.#prose,
      this.#waiting,
      this.#ending,
      this.#error,
      make('div', { class: 'actions' }, this.#copy, this.#retry, plain ? this.#further : null, this.#figures),
    );
  }

  update(running, isLast) {
    const { content, reasoning, state } = this.#turn;
    const streaming = state === 'streaming';
    this.element.classList.toggle('streaming', streaming);
    this.element.classList.toggle('failed', state === 'failed');
    this.element.setAttribute('aria-busy', String(streaming));
    this.#view.show(content);
    this.#prose.hidden = !content;
    this.#showReasoning(reasoning, streaming && !content);
    this.#showWaiting(streaming && !content && !reasoning);
    this.#showEnd(streaming);
    this.#copy.hidden = streaming || !content;
    this.#retry.hidden = this.#further.hidden = running || !isLast;
    setText(this.#figures, streaming ? '' : figures(this.#turn));
  }

  #showReasoning(reasoning, thinking) {
    this.#reasoning.hidden = !reasoning;
    if (reasoning) {
      setText(this.#thinking, thinking ? 'Thinking…' : 'Thoughts');
      this.#thoughts.show(reasoning);
    }
  }

  #showWaiting(waiting) {
    const { progress } = this.#turn;
    this.#waiting.hidden = !waiting;
    this.#progress.hidden = !progress;
    if (progress) {
      this.#progress.max = progress.of;
      this.#progress.value = progress.read;
      setText(this.#waitingText, `Prefilling ${count(progress.read)} of ${counted(progress.of, 'token')}`);
    } else {
      setText(this.#waitingText, 'Waiting for the server');
    }
  }

  #showEnd(streaming) {
    const { error } = this.#turn;
    const end = ending(this.#turn);
    this.#ending.hidden = !end;
    setText(this.#ending, end);
    this.#error.hidden = streaming || !error;
    clearInterval(this.#clock);
    if (error && !streaming) {
      this.#showError(error);
      if (error.retryAt > Date.now()) {
        this.#clock = setInterval(() => this.#showError(error), 1000);
      }
    }
  }

  #showError(error) {
    setText(this.#error, complaint(error));
    if (!this.element.isConnected || error.retryAt <= Date.now()) {
      clearInterval(this.#clock);
    }
  }
}
