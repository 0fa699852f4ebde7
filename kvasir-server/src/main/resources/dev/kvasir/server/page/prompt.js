/** Builds the request of a conversation, up to the response that is to be generated. */

/** Merges consecutive messages of one role, since a template may require roles to alternate. */
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

/** Joins turns to one text, with a space between words of two turns. */
function text(turns) {
  return turns.reduce((before, { content }) => {
    const apart = before === '' || content === '' || /\s$/.test(before) || /^\s/.test(content);
    return before + (apart ? '' : ' ') + content;
  }, '');
}

/** Returns the cache spec that the conversation selected, if the server still offers it. */
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

/** Returns the path and body of a request; a started text is continued. */
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
