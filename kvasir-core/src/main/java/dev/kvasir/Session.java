package dev.kvasir;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PackingTime;
import dev.kvasir.cache.Repacking;
import dev.kvasir.engine.Beginning;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.engine.Sequence;
import dev.kvasir.engine.Sequence.Request;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One sequence of text with what the model remembers of it. A session is used by one thread at a
 * time; different sessions of a model are independent of each other.
 */
public final class Session implements AutoCloseable {
  private final Model model;
  private final SessionOptions options;
  private final int contextLimit;
  private final KvCache cache;
  private final Sequence sequence;
  private Beginning beginning; // until the text that it is of has been read
  private final AtomicBoolean busy = new AtomicBoolean();
  private boolean closed;

  Session(Model model, SessionOptions options) {
    this(model, options, model.newCache(options.cache(), contextLimit(model, options)), null);
  }

  /**
   * @param cache of the text so far, closed with the session
   */
  private Session(Model model, SessionOptions options, KvCache cache, Beginning beginning) {
    this.model = model;
    this.options = options;
    this.contextLimit = contextLimit(model, options);
    this.beginning = beginning;
    this.cache = cache;
    boolean readsExactly = options.prefill() == Prefill.EXACT;
    this.sequence = new Sequence(cache, contextLimit, readsExactly, model.tokenizer().endOfText());
    boolean asked = options.contextLimit() != Integer.MAX_VALUE;
    if (asked && cache.capacity() < contextLimit) {
      int capacity = cache.capacity();
      cache.close();
      throw new InvalidInputException(
          "the cache '%s' holds %d tokens at the most; the context was to have %d"
              .formatted(options.cache(), capacity, contextLimit));
    }
  }

  /** Begins with a text, of which only that part will be read which no other session has read. */
  static Session on(Model model, SessionOptions options, int[] text, String owner) {
    if (options.prefill() == Prefill.EXACT) {
      throw new IllegalArgumentException(
          "prefill is exact; a text whose beginning others have read is packed as it is read");
    }
    model.checkIds(text);
    int limit = contextLimit(model, options);
    Beginning known =
        model
            .prefixes()
            .begin(
                new PrefixCache.Kind(options.cache().text(), limit, options.tenant()),
                text,
                owner,
                () -> model.newCache(options.cache(), limit));
    return new Session(model, options, known.cache(), known).with(text);
  }

  /** Goes on with a text, of which a cache holds all or some. */
  static Session on(Model model, SessionOptions options, int[] text, KvCache cache) {
    return new Session(model, options, cache, null).with(text);
  }

  private Session with(int[] text) {
    for (int id : text) {
      sequence.append(id);
    }
    return this;
  }

  static int contextLimit(Model model, SessionOptions options) {
    return Math.min(options.contextLimit(), model.config().contextLength());
  }

  /** Continues the text with a prompt and generates after it. */
  public Generation generate(String prompt, GenerateOptions options, GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          int[] ids = model.tokenizer().encode(prompt, sequence.length() == 0);
          return generateAfter(ids, options, listener);
        });
  }

  /** Continues the text with token ids and generates after them. */
  public Generation generate(int[] prompt, GenerateOptions options, GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          model.checkIds(prompt);
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
          int shared = sequence.commonPrefix(ids);
          checkRoom(shared, ids.length - shared);
          sequence.keep(shared);
          return generateAfter(Arrays.copyOfRange(ids, shared, ids.length), options, listener);
        });
  }

  private Generation generateAfter(
      int[] prompt, GenerateOptions options, GenerationListener listener) {
    checkRoom(sequence.length(), prompt.length);
    if (sequence.length() + prompt.length == 0) {
      throw new InvalidInputException("the prompt is empty; at least one token is needed");
    }
    Beginning leaves = prompt.length == 0 ? beginning : null;
    beginning = null;
    for (int id : prompt) {
      sequence.append(id);
    }
    Sampler sampler = options.newSampler();
    for (int i = 0; i < sequence.length(); i++) {
      sampler.see(sequence.token(i));
    }
    long start = System.nanoTime();
    PackingTime packed = cache.packingTime();
    int remembered = cache.length();
    int unread = sequence.length() - remembered;
    model
        .loop()
        .run(
            sequence,
            new Request(sampler, model.tokenizer().stream(true), options.maxTokens(), leaves),
            listener);
    long end = System.nanoTime();
    boolean isRead = sequence.generated() > 0;
    long promptDone = isRead ? sequence.promptDone() : end;
    if (isRead && leaves != null) {
      model.prefixes().read(unread, promptDone - start);
    }
    return new Generation(
        sequence.text(),
        isRead ? unread : Math.max(0, cache.length() - remembered),
        sequence.generated(),
        promptDone - start,
        end - promptDone,
        cache.packingTime().minus(packed),
        sequence.finish());
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

  /**
   * Saves all that it holds, so that {@link Model#restore} goes on from here, in another process as
   * well. The file is written whole or not at all.
   */
  public void save(Path file) {
    exclusively(
        () -> {
          model.checkOpen();
          SavedSession.save(model, options, tokens(), cache, file);
          return null;
        });
  }

  /**
   * Another session with the same text, whose keys and values are packed anew with another kind of
   * cache, as attention sees them here. What was lost here stays lost. Where layers have let go of
   * what the other kind keeps or learns from, the text is read again when it is gone on with.
   *
   * @throws InvalidInputException where that kind packs by what queries look at, which nobody knows
   *     any more
   */
  public Session repacked(CacheSpec kind) {
    return exclusively(
        () -> {
          model.checkOpen();
          KvCache other = model.newCache(kind, contextLimit);
          try {
            Repacking.requirePossible(kind, other);
            boolean byPosition =
                Sequence.isPackedByPosition(other, options.prefill() == Prefill.EXACT);
            Repacking repacking =
                new Repacking(
                    cache, other, model.config().cacheShape(), model.cacheHost().kernels());
            if (repacking.hasAll()) {
              repacking.fill(tokens(), Sequence.PROMPT_STEP, byPosition);
            }
          } catch (RuntimeException | Error e) {
            other.close();
            throw e;
          }
          return on(model, options.withCache(kind), tokens(), other);
        });
  }

  private int[] tokens() {
    int[] tokens = new int[sequence.length()];
    Arrays.setAll(tokens, sequence::token);
    return tokens;
  }

  /** Forgets all text. */
  public void reset() {
    exclusively(
        () -> {
          sequence.keep(0);
          return null;
        });
  }

  /** What it was opened with. */
  public SessionOptions options() {
    return options;
  }

  /** Tokens of the text whose keys and values are there, and need not be read. */
  public int remembered() {
    return cache.length();
  }

  /** What others began from as well, the same object for all of them; empty where nothing was. */
  public Optional<Object> sharedSource() {
    return Optional.ofNullable(beginning).map(Beginning::source);
  }

  /** Tokens of the text so far. */
  public int length() {
    return sequence.length();
  }

  /** Tokens that it may hold. */
  public int contextLimit() {
    return contextLimit;
  }

  /** All bytes of the cache, in bits, for each value that is still read; 0 while there is none. */
  public double bitsPerValue() {
    long values = model.config().cacheShape().valuesRead(cache.length());
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
