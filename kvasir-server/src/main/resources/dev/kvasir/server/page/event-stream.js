/** Yields the lines of a body as they arrive, with any line ending; the last may have none. */
async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        break;
      }
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      yield* lines;
    }
    if (rest) {
      yield rest;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Yields the server-sent events of a body: { data } for an event, { comment } for a comment line.
 * EventSource supports neither a key nor POST.
 */
export async function* eventsOf(body) {
  let data = [];
  for await (const line of linesOf(body)) {
    if (line === '') {
      if (data.length > 0) {
        yield { data: data.join('\n') };
        data = [];
      }
    } else if (line.startsWith(':')) {
      yield { comment: line.slice(1).trim() };
    } else if (line.startsWith('data:')) {
      data.push(line.slice(5).replace(/^ /, ''));
    }
  }
  if (data.length > 0) {
    yield { data: data.join('\n') };
  }
}
