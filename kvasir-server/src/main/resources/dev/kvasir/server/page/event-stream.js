/** Lines of a body as they come, whether they end in CR, LF or both; a last one may lack its end. */
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
 * Server-sent events of a body: { data } for an event, { comment } for a line of comment.
 * EventSource cannot carry a key and cannot post, hence this.
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
