package dev.kvasir;

import dev.kvasir.Generation.Finish;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PackingTime;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.Batch;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import dev.kvasir.text.TextStream;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One sequence of text with what the model remembers of it. A session is used by one thread at a
 * time; different sessions of a model are independent of each other.
 */
public final class Session implements AutoCloseable {
  /** Prompt tokens of a step: enough to make the weights' expansion cheap, few enough to report. */
  private static final int PROMPT_STEP = 256;

  private final Model model;
  private final int contextLimit;
  private final Prefill prefill;
  private final KvCache cache;
  private final Batch batch = new Batch();
  private final AtomicBoolean busy = new AtomicBoolean();
  private final Set<Integer> endOfText;

  /** Every token of the sequence. The last one is not in the cache until the next step needs it. */
  private int[] tokens = new int[256];

  private int length;
  private boolean closed;

  Session(Model model, SessionOptions options) {
    this.model = model;
    this.contextLimit = Math.min(options.contextLimit(), model.config().contextLength());
    this.prefill = options.prefill();
    this.endOfText = model.tokenizer().endOfText();
    this.cache = model.newCache(options.cache(), contextLimit);
    boolean asked = options.contextLimit() != Integer.MAX_VALUE;
    if (asked && cache.capacity() < contextLimit) {
      int capacity = cache.capacity();
      cache.close();
      throw new InvalidInputException(
          "the cache '%s' holds %d tokens at the most; the context was to have %d"
              .formatted(options.cache(), capacity, contextLimit));
    }
  }

  /** Continues the text with a prompt and generates after it. */
  public Generation generate(String prompt, GenerateOptions options, GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          int[] ids = model.tokenizer().encode(prompt, length == 0);
          return generateAfter(ids, options, listener);
        });
  }

  /** Continues the text with token ids and generates after them. */
  public Generation generate(int[] prompt, GenerateOptions options, GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          checkIds(prompt);
          return generateAfter(prompt, options, listener);
        });
  }

  /**
   * Answers a conversation. What it has in common with the text so far is not read again, so a
   * conversation that grows by a turn costs that turn.
   */
  public Generation chat(
      List<Message> messages,
      ChatTemplate template,
      GenerateOptions options,
      GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          int[] ids = model.tokenizer().encode(template.render(messages, true), false);
          int mismatch = Arrays.mismatch(ids, 0, ids.length, tokens, 0, length);
          int shared = mismatch < 0 ? length : mismatch;
          checkRoom(shared, ids.length - shared);
          keep(shared);
          return generateAfter(Arrays.copyOfRange(ids, length, ids.length), options, listener);
        });
  }

  private Generation generateAfter(
      int[] prompt, GenerateOptions options, GenerationListener listener) {
    checkRoom(length, prompt.length);
    if (length + prompt.length == 0) {
      throw new InvalidInputException("the prompt is empty; at least one token is needed");
    }
    Sampler sampler = new Sampler(options.sampling());
    for (int i = 0; i < length; i++) {
      sampler.see(tokens[i]);
    }
    for (int id : prompt) {
      append(id);
      sampler.see(id);
    }
    long start = System.nanoTime();
    PackingTime packed = cache.packingTime();
    int remembered = cache.length();
    int promptTokens = length - remembered;
    if (!readPrompt(listener)) {
      int read = Math.max(0, cache.length() - remembered);
      PackingTime packing = cache.packingTime().minus(packed);
      return new Generation("", read, 0, System.nanoTime() - start, 0, packing, Finish.STOPPED);
    }
    long promptDone = System.nanoTime();
    StringBuilder text = new StringBuilder();
    int before = length;
    Finish finish = continueText(options.maxTokens(), sampler, text, listener);
    return new Generation(
        text.toString(),
        promptTokens,
        length - before,
        promptDone - start,
        System.nanoTime() - promptDone,
        cache.packingTime().minus(packed),
        finish);
  }

  private void checkRoom(int held, int promptLength) {
    if ((long) held + promptLength >= contextLimit) {
      String after = held == 0 ? "" : " after %d that the session holds".formatted(held);
      throw new InvalidInputException(
          "the prompt has %d tokens%s; the context has room for %d and one to generate"
              .formatted(promptLength, after, Math.max(0, contextLimit - 1 - held)));
    }
    if ((long) held + promptLength > cache.capacity()) {
      String after = held == 0 ? "" : " after %d that the session holds".formatted(held);
      throw new InvalidInputException(
          "the prompt has %d tokens%s; the cache's budget has room for %d"
              .formatted(promptLength, after, Math.max(0, cache.capacity() - held)));
    }
  }

  private void checkIds(int[] prompt) {
    int vocabulary = model.config().vocabulary();
    for (int id : prompt) {
      if (id < 0 || id >= vocabulary) {
        throw new IllegalArgumentException(
            "token is %d; expected 0 to %d".formatted(id, vocabulary - 1));
      }
    }
  }

  /**
   * Brings the cache up to the text, leaving logits for the next token; false if stopped. What was
   * not read then stays part of the text, to be read when the session is next used.
   */
  private boolean readPrompt(GenerationListener listener) {
    if (prefill == Prefill.CHUNKED) {
      return readInSteps(listener);
    }
    cache.holdSealing(true);
    try {
      return readInSteps(listener);
    } finally {
      cache.holdSealing(false);
    }
  }

  private boolean readInSteps(GenerationListener listener) {
    // With nothing new to read, the last token is read again for its logits.
    if (cache.length() == length) {
      cache.truncate(length - 1);
    }
    int total = length - cache.length();
    int done = 0;
    while (done < total) {
      if (listener.stopped()) {
        return false;
      }
      int count = Math.max(1, cache.stepOf(Math.min(PROMPT_STEP, total - done)));
      batch.clear();
      int from = cache.length();
      for (int i = from; i < from + count; i++) {
        batch.add(cache, tokens[i], i == length - 1);
      }
      model.forward(batch);
      done += count;
      listener.prompt(done, total);
    }
    return true;
  }

  private Finish continueText(
      int maxTokens, Sampler sampler, StringBuilder text, GenerationListener listener) {
    TextStream stream = model.tokenizer().stream(true);
    Finish finish = Finish.MAX_TOKENS;
    for (int n = 0; n < maxTokens; n++) {
      int token = sampler.pick(batch.logits(), batch.logitsAt(0), batch.vocabulary());
      append(token);
      if (endOfText.contains(token)) {
        finish = Finish.END_OF_TEXT;
        break;
      }
      tell(stream.push(token), text, listener);
      if (listener.stopped()) {
        finish = Finish.STOPPED;
        break;
      }
      if (length >= contextLimit) {
        finish = Finish.CONTEXT_FULL;
        break;
      }
      if (length > cache.capacity()) {
        finish = Finish.CACHE_FULL;
        break;
      }
      if (n < maxTokens - 1) {
        batch.clear();
        batch.add(cache, token, true);
        model.forward(batch);
      }
    }
    tell(stream.finish(), text, listener);
    return finish;
  }

  private static void tell(String piece, StringBuilder text, GenerationListener listener) {
    if (!piece.isEmpty()) {
      text.append(piece);
      listener.text(piece);
    }
  }

  private void append(int token) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * length);
    }
    tokens[length++] = token;
  }

  /** Forgets all but the first {@code count} tokens. */
  private void keep(int count) {
    length = count;
    if (cache.length() > count) {
      cache.truncate(count);
    }
  }

  /** Forgets all text. */
  public void reset() {
    exclusively(
        () -> {
          keep(0);
          return null;
        });
  }

  /** Tokens of the text so far. */
  public int length() {
    return length;
  }

  /** Tokens that it may hold. */
  public int contextLimit() {
    return contextLimit;
  }

  /** All bytes of the cache, in bits, for each value that it holds; 0 while it holds none. */
  public double bitsPerValue() {
    long values = cache.length() * model.config().cacheShape().valuesPerToken();
    return values == 0 ? 0 : 8.0 * cache.bytes().total() / values;
  }

  public KvCache cache() {
    return cache;
  }

  private <T> T exclusively(java.util.function.Supplier<T> action) {
    if (!busy.compareAndSet(false, true)) {
      throw new IllegalStateException("this session is in use by another thread");
    }
    try {
      if (closed) {
        throw new IllegalStateException("this session is closed");
      }
      return action.get();
    } finally {
      busy.set(false);
    }
  }

  @Override
  public void close() {
    if (!closed) {
      exclusively(
          () -> {
            closed = true;
            cache.close();
            return null;
          });
    }
  }
}
