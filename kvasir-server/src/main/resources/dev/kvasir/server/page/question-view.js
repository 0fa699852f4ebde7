import { copyFrom } from './clipboard.js';
import { iconButton, make } from './dom.js';
import { icon } from './icons.js';

/** A message of the user, with buttons to copy and edit it. */
export class QuestionView {
  #turn;
  #actions;
  #text = make('div', { class: 'said' });
  #edit = iconButton(icon('edit'), 'Edit and ask again', () => this.#beginEdit());

  /** actions.askAgain(turn, text) truncates the conversation here and sends the new text. */
  constructor(turn, actions) {
    this.#turn = turn;
    this.#actions = actions;
    this.#text.textContent = turn.content;
    const copy = iconButton(icon('copy'), 'Copy message', event => copyFrom(event.currentTarget, turn.content));
    this.element = make(
      'li',
      { class: 'turn question' },
      make('h2', { class: 'unseen' }, 'You'),
      this.#text,
      make('div', { class: 'actions' }, copy, this.#edit),
    );
  }

  update(running) {
    this.#edit.hidden = running;
  }

  #beginEdit() {
    const area = make('textarea', { 'aria-label': 'Edited message', rows: 3 });
    area.value = this.#turn.content;
    const form = make(
      'form',
      { class: 'edit' },
      area,
      make(
        'p',
        { class: 'buttons' },
        make('button', { type: 'button', onclick: () => this.#endEdit(form) }, 'Cancel'),
        make('button', { type: 'submit', class: 'strong' }, 'Ask again'),
      ),
    );
    form.addEventListener('submit', event => this.#submit(event, area));
    area.addEventListener('keydown', event => this.#key(event, form));
    this.element.classList.add('editing');
    this.element.append(form);
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }

  #submit(event, area) {
    event.preventDefault();
    if (area.value.trim()) {
      this.#actions.askAgain(this.#turn, area.value.trim());
    }
  }

  #key(event, form) {
    if (event.key === 'Escape') {
      event.stopPropagation();
      this.#endEdit(form);
    } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  }

  #endEdit(form) {
    form.remove();
    this.element.classList.remove('editing');
    this.#edit.focus();
  }
}
