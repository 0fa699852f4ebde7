import { eventsOf } from './event-stream.js';
import { requestFor } from './prompt.js';
import { ServerError } from './server.js';

/** How much of a streaming response a browser crash may lose. */
const SAVE_EVERY_MS = 1000;

function failureOf(thrown) {
  if (thrown instanceof ServerError) {
    return { message: thrown.message, status: thrown.status, retryAt: thrown.retryAt };
  }
  return { message: 'The connection to the server was lost.', status: 0, retryAt: null };
}

/** Adds one event of a stream to the response. */
function take(answer, { choices, usage, timings, error }) {
  if (error) {
    throw new ServerError(error.message ?? 'The server stopped the answer.');
  }
  const choice = choices?.[0];
  if (choice) {
    answer.content += choice.delta?.content ?? choice.text ?? '';
    answer.reasoning += choice.delta?.reasoning_content ?? '';
    answer.finish = choice.finish_reason ?? answer.finish;
  }
  answer.usage = usage ?? answer.usage;
  answer.timings = timings ?? answer.timings;
  if (answer.content || answer.reasoning) {
    answer.progress = null;
  }
}

function progressOf(comment) {
  const found = /^reading (\d+)\/(\d+)$/.exec(comment);
  return found && { read: Number(found[1]), of: Number(found[2]) };
}

/**
 * Responses in progress, at most one per conversation. Fires "change" on every event and "end" when
 * a response has ended, for any reason; both name the conversation and the response.
 */
export class Answering extends EventTarget {
  #server;
  #conversations;
  #controls = new Map();
  /** The page is unloading, which closes connections: not an error. */
  #leaving = false;

  constructor(server, conversations) {
    super();
    this.#server = server;
    this.#conversations = conversations;
    window.addEventListener('pagehide', () => this.#leave());
    window.addEventListener('pageshow', () => (this.#leaving = false));
  }

  isRunning(conversation) {
    return this.#controls.has(conversation.id);
  }

  stop(conversation) {
    this.#controls.get(conversation.id)?.control.abort();
  }

  /** Adds a response to the last message. */
  answer(conversation, model) {
    const answer = { role: 'assistant', content: '', reasoning: '', state: 'streaming' };
    conversation.turns.push(answer);
    return this.#run(conversation, answer, model);
  }

  /** Extends a response of a model that continues texts. */
  extend(conversation, answer, model) {
    answer.state = 'streaming';
    answer.error = null;
    return this.#run(conversation, answer, model);
  }

  async #run(conversation, answer, model) {
    const control = new AbortController();
    this.#controls.set(conversation.id, { control, conversation });
    this.#conversations.touch(conversation);
    this.#tell('change', conversation, answer);
    try {
      await this.#read(conversation, answer, model, control.signal);
      answer.state = 'done';
    } catch (thrown) {
      const stopped = control.signal.aborted || this.#leaving;
      answer.state = stopped ? 'stopped' : 'failed';
      answer.error = stopped ? null : failureOf(thrown);
    }
    answer.progress = null;
    this.#controls.delete(conversation.id);
    this.#conversations.save(conversation);
    this.#tell('end', conversation, answer);
  }

  async #read(conversation, answer, model, signal) {
    const { path, body } = requestFor(conversation, answer, await model());
    const response = await this.#server.request(path, { method: 'POST', body, signal });
    let saved = Date.now();
    answer.finish = null;
    for await (const { data, comment } of eventsOf(response.body)) {
      if (data === '[DONE]') {
        return;
      }
      if (comment !== undefined) {
        answer.progress = progressOf(comment) ?? answer.progress;
      } else {
        take(answer, JSON.parse(data));
      }
      if (Date.now() - saved > SAVE_EVERY_MS) {
        this.#conversations.save(conversation);
        saved = Date.now();
      }
      this.#tell('change', conversation, answer);
    }
    if (!answer.finish) {
      throw new ServerError('The answer is incomplete.');
    }
  }

  #leave() {
    this.#leaving = true;
    for (const { conversation } of this.#controls.values()) {
      this.#conversations.save(conversation);
    }
  }

  #tell(name, conversation, answer) {
    this.dispatchEvent(new CustomEvent(name, { detail: { conversation, answer } }));
  }
}
