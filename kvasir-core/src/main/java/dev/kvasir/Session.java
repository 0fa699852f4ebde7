package dev.kvasir;

import dev.kvasir.cache.CacheConverter;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.engine.Prefix;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.engine.Request;
import dev.kvasir.engine.Request.GenerationParams;
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
  private final Request request;
  private Prefix prefix; // until the text that it is of has been read
  private final AtomicBoolean busy = new AtomicBoolean();
  private boolean closed;

  Session(Model model, SessionOptions options) {
    this(model, options, model.newCache(options.cache(), contextLimit(model, options)), null);
  }

  /**
   * @param cache of the text so far, closed with the session
   */
  private Session(Model model, SessionOptions options, KvCache cache, Prefix prefix) {
    this.model = model;
    this.options = options;
    this.contextLimit = contextLimit(model, options);
    this.prefix = prefix;
    this.cache = cache;
    boolean defersQuantization = options.prefill() == Prefill.EXACT;
    this.request =
        new Request(cache, contextLimit, defersQuantization, model.tokenizer().endOfText());
    boolean isLimited = options.contextLimit() != Integer.MAX_VALUE;
    if (isLimited && cache.capacity() < contextLimit) {
      int capacity = cache.capacity();
      cache.close();
      throw new InvalidInputException(
          "the cache '%s' holds %d tokens at the most; the context was to have %d"
              .formatted(options.cache(), capacity, contextLimit));
    }
  }

  /** Begins with a text, of which only that part will be read which no other session has read. */
  static Session open(Model model, SessionOptions options, int[] text, String owner) {
    if (options.prefill() == Prefill.EXACT) {
      throw new IllegalArgumentException(
          "prefill is exact; a text whose beginning others have read is packed as it is read");
    }
    model.checkIds(text);
    int limit = contextLimit(model, options);
    Prefix matched =
        model
            .prefixes()
            .acquire(
                new PrefixCache.PrefixNamespace(options.cache().text(), limit, options.tenant()),
                text,
                owner,
                () -> model.newCache(options.cache(), limit));
    return new Session(model, options, matched.cache(), matched).with(text);
  }

  /** Goes on with a text, of which a cache holds all or some. */
  static Session open(Model model, SessionOptions options, int[] text, KvCache cache) {
    return new Session(model, options, cache, null).with(text);
  }

  private Session with(int[] text) {
    for (int id : text) {
      request.append(id);
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
          int[] ids = model.tokenizer().encode(prompt, request.length() == 0);
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
          int shared = request.commonPrefix(ids);
          requireCapacity(shared, ids.length - shared);
          request.truncate(shared);
          return generateAfter(Arrays.copyOfRange(ids, shared, ids.length), options, listener);
        });
  }

  private Generation generateAfter(
      int[] prompt, GenerateOptions options, GenerationListener listener) {
    requireCapacity(request.length(), prompt.length);
    if (request.length() + prompt.length == 0) {
      throw new InvalidInputException("the prompt is empty; at least one token is needed");
    }
    Prefix pendingPrefix = prompt.length == 0 ? prefix : null;
    prefix = null;
    for (int id : prompt) {
      request.append(id);
    }
    Sampler sampler = options.newSampler();
    for (int i = 0; i < request.length(); i++) {
      sampler.markSeen(request.token(i));
    }
    long start = System.nanoTime();
    QuantizationTime timeBefore = cache.quantizationTime();
    int cachedBefore = cache.length();
    int unread = request.length() - cachedBefore;
    model
        .scheduler()
        .run(
            request,
            new GenerationParams(
                sampler, model.tokenizer().stream(true), options.maxTokens(), pendingPrefix),
            listener);
    long end = System.nanoTime();
    boolean isPrefilled = request.generated() > 0;
    long promptDone = isPrefilled ? request.promptDone() : end;
    if (isPrefilled && pendingPrefix != null) {
      model.prefixes().recordPrefill(unread, promptDone - start);
    }
    return new Generation(
        request.text(),
        isPrefilled ? unread : Math.max(0, cache.length() - cachedBefore),
        request.generated(),
        promptDone - start,
        end - promptDone,
        cache.quantizationTime().minus(timeBefore),
        request.finish());
  }

  private void requireCapacity(int held, int promptLength) {
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
  public Session convertedTo(CacheSpec kind) {
    return exclusively(
        () -> {
          model.checkOpen();
          KvCache other = model.newCache(kind, contextLimit);
          try {
            CacheConverter.requirePossible(kind, other);
            boolean byPosition =
                Request.quantizesByPosition(other, options.prefill() == Prefill.EXACT);
            CacheConverter converter =
                new CacheConverter(
                    cache, other, model.config().cacheShape(), model.cacheContext().kernels());
            if (converter.canConvert()) {
              converter.fill(tokens(), Request.PREFILL_STEP, byPosition);
            }
          } catch (RuntimeException | Error e) {
            other.close();
            throw e;
          }
          return open(model, options.withCache(kind), tokens(), other);
        });
  }

  private int[] tokens() {
    int[] tokens = new int[request.length()];
    Arrays.setAll(tokens, request::token);
    return tokens;
  }

  /** Forgets all text. */
  public void reset() {
    exclusively(
        () -> {
          request.truncate(0);
          return null;
        });
  }

  /** What it was opened with. */
  public SessionOptions options() {
    return options;
  }

  /** Tokens of the text whose keys and values are there, and need not be read. */
  public int cachedTokens() {
    return cache.length();
  }

  /** What others began from as well, the same object for all of them; empty where nothing was. */
  public Optional<Object> sharedPrefix() {
    return Optional.ofNullable(prefix).map(Prefix::source);
  }

  /** Tokens of the text so far. */
  public int length() {
    return request.length();
  }

  /** Tokens that it may hold. */
  public int contextLimit() {
    return contextLimit;
  }

  /** All bytes of the cache, in bits, for each value that is still read; 0 while there is none. */
  public double bitsPerValue() {
    long values = model.config().cacheShape().valuesInWindows(cache.length());
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
