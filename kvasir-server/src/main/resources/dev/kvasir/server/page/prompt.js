/** What a conversation asks the server for, up to but without the answer that is to be written. */

/** A server may want roles to alternate, so questions without an answer between them become one. */
function messages(turns, system) {
  const made = system?.trim() ? [{ role: 'system', content: system }] : [];
  for (const { role, content } of turns) {
    const last = made.at(-1);
    if (content === '') {
      continue;
    }
    if (last?.role === role) {
      last.content += `\n\n${content}`;
    } else {
      made.push({ role, content });
    }
  }
  return made;
}

/** One text; words of two turns never run together. */
function text(turns) {
  return turns.reduce((before, { content }) => {
    const apart = before === '' || content === '' || /\s$/.test(before) || /^\s/.test(content);
    return before + (apart ? '' : ' ') + content;
  }, '');
}

/** The kind of cache that a conversation wants and the server still offers. */
export function kindOf({ settings }, { kinds }) {
  return kinds?.includes(settings.kv) ? settings.kv : undefined;
}

function common(conversation, state) {
  const { temperature, maxTokens } = conversation.settings;
  return {
    model: state.model,
    stream: true,
    stream_options: { include_usage: true },
    temperature: temperature ?? undefined,
    max_tokens: maxTokens ?? undefined,
    kv: kindOf(conversation, state),
    prompt_cache_key: conversation.id,
  };
}

/** The path and body of a request; an answer that has begun is continued, where texts are. */
export function requestFor(conversation, answer, state) {
  const before = conversation.turns.slice(0, conversation.turns.indexOf(answer));
  if (state.chat) {
    return {
      path: '/v1/chat/completions',
      body: {
        ...common(conversation, state),
        messages: messages(before, conversation.settings.system),
      },
    };
  }
  return {
    path: '/v1/completions',
    body: { ...common(conversation, state), prompt: text([...before, answer]) },
  };
}
