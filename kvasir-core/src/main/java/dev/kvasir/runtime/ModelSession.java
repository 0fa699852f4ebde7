package dev.kvasir.runtime;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.KvCacheSpec;
import dev.kvasir.Session;
import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheConverter;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.engine.Drafter;
import dev.kvasir.engine.GenerationParams;
import dev.kvasir.engine.Prefix;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.engine.PrefixCache.CachedPrefix;
import dev.kvasir.engine.Request;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.TooLongException;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The implementation of {@link Session}, with what modules of Kvasir use besides. */
public final class ModelSession implements Session {
  private final LoadedModel model;
  private final SessionOptions options;
  private final int contextLimit;
  private final KvCache cache;
  private final Request request;
  private final Drafter drafter; // null for no speculation
  private Prefix prefix; // until its text has been prefilled
  private final AtomicBoolean busy = new AtomicBoolean();
  private CompiledFormat grammar; // of the last generation with GenerateOptions; null before
  private boolean closed;

  ModelSession(LoadedModel model, SessionOptions options) {
    this(
        model,
        options,
        model.newCache(CacheSpec.of(options.cache()), contextLimit(model, options)),
        null);
  }

  /**
   * @param cache the cache of the text so far, closed with the session
   */
  private ModelSession(LoadedModel model, SessionOptions options, KvCache cache, Prefix prefix) {
    this.model = model;
    this.options = options;
    this.contextLimit = contextLimit(model, options);
    this.prefix = prefix;
    this.cache = cache;
    boolean defersQuantization = options.prefill() == Prefill.EXACT;
    this.drafter = model.newDrafter(contextLimit);
    this.request =
        new Request(
            cache, contextLimit, defersQuantization, model.tokenizer().endOfText(), drafter);
    boolean isLimited = options.contextLimit() != Integer.MAX_VALUE;
    if (isLimited && cache.capacity() < contextLimit) {
      int capacity = cache.capacity();
      cache.close();
      throw new InvalidInputException(
          "the cache '%s' holds %d tokens at the most; the context was to have %d"
              .formatted(options.cache(), capacity, contextLimit));
    }
  }

  /** Opens a session with a text and prefills only what no other session has computed. */
  static ModelSession open(LoadedModel model, SessionOptions options, int[] text, String owner) {
    model.checkIds(text);
    int limit = contextLimit(model, options);
    CacheSpec spec = CacheSpec.of(options.cache()).withPrefill(options.prefill());
    Prefix matched =
        model
            .prefixes()
            .acquire(
                new PrefixCache.PrefixNamespace(spec.text(), limit, options.tenant()),
                text,
                owner,
                () -> model.newCache(spec, limit));
    return new ModelSession(model, options, matched.cache(), matched).with(text);
  }

  /** Continues a text that is fully or partly cached. */
  static ModelSession open(LoadedModel model, SessionOptions options, int[] text, KvCache cache) {
    return new ModelSession(model, options, cache, null).with(text);
  }

  private ModelSession with(int[] text) {
    for (int id : text) {
      request.append(id);
    }
    return this;
  }

  static int contextLimit(LoadedModel model, SessionOptions options) {
    return Math.min(options.contextLimit(), model.config().contextLength());
  }

  @Override
  public Generation generate(String prompt, GenerateOptions options, GenerationListener listener) {
    return generate(prompt, settings(options), listener);
  }

  @Override
  public Generation generate(int[] prompt, GenerateOptions options, GenerationListener listener) {
    return generate(prompt, settings(options), listener);
  }

  private GenerationSettings settings(GenerateOptions options) {
    options.sampling().checkTokens(model.config().vocabulary());
    if (grammar == null || !grammar.format().equals(options.format())) {
      grammar = new CompiledFormat(options.format(), model.tokenizer());
    }
    return new GenerationSettings(
        options.maxTokens(), options.sampling(), grammar.grammar(), options.topLogprobs());
  }

  /** Continues the text with a prompt and generates after it. */
  public Generation generate(
      String prompt, GenerationSettings options, GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          int[] ids = model.tokenizer().encode(prompt, request.length() == 0);
          return generateAfter(ids, options, listener);
        });
  }

  /** Continues the text with token ids and generates after them. */
  public Generation generate(
      int[] prompt, GenerationSettings options, GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          model.checkIds(prompt);
          return generateAfter(prompt, options, listener);
        });
  }

  /**
   * Answers a conversation. The common prefix with the text so far is not prefilled again, so each
   * further turn costs only its own tokens.
   */
  public Generation chat(
      List<Message> messages,
      ChatTemplate template,
      GenerationSettings options,
      GenerationListener listener) {
    return exclusively(
        () -> {
          model.checkOpen();
          int[] ids = model.tokenizer().encodePrompt(template.render(messages, true));
          int shared = request.commonPrefix(ids);
          requireCapacity(shared, ids.length - shared);
          request.truncate(shared);
          return generateAfter(Arrays.copyOfRange(ids, shared, ids.length), options, listener);
        });
  }

  private Generation generateAfter(
      int[] prompt, GenerationSettings options, GenerationListener listener) {
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
                sampler,
                model.tokenizer().stream(options.visibleTokens()),
                options.maxTokens(),
                pendingPrefix),
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
        request.drafts(),
        promptDone - start,
        end - promptDone,
        quantization(cache.quantizationTime().minus(timeBefore)),
        request.finish());
  }

  private static Generation.Quantization quantization(QuantizationTime time) {
    return new Generation.Quantization(
        time.learnNanos(), time.quantizeNanos(), time.requantizeNanos());
  }

  private void requireCapacity(int existing, int promptLength) {
    if ((long) existing + promptLength >= contextLimit) {
      String after = existing == 0 ? "" : " after %d that the session holds".formatted(existing);
      throw new TooLongException(
          "the prompt has %d tokens%s; the context has room for %d and one to generate"
              .formatted(promptLength, after, Math.max(0, contextLimit - 1 - existing)));
    }
    if ((long) existing + promptLength > cache.capacity()) {
      String after = existing == 0 ? "" : " after %d that the session holds".formatted(existing);
      throw new TooLongException(
          "the prompt has %d tokens%s; the cache's budget has room for %d"
              .formatted(promptLength, after, Math.max(0, cache.capacity() - existing)));
    }
  }

  @Override
  public void save(Path file) {
    exclusively(
        () -> {
          model.checkOpen();
          SavedSession.save(model, options, tokens(), cache, file);
          return null;
        });
  }

  /**
   * If layers have evicted what the other cache retains or learns from, the text is prefilled again
   * when it continues.
   */
  @Override
  public ModelSession convertedTo(KvCacheSpec requested) {
    CacheSpec spec = CacheSpec.of(requested);
    return exclusively(
        () -> {
          model.checkOpen();
          KvCache other = model.newCache(spec, contextLimit);
          try {
            CacheConverter.requirePossible(spec, other.observer());
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
          return open(model, options.toBuilder().cache(spec).build(), tokens(), other);
        });
  }

  /** Returns the tokens of the text, those not computed yet included. */
  public int[] tokens() {
    int[] tokens = new int[request.length()];
    Arrays.setAll(tokens, request::token);
    return tokens;
  }

  @Override
  public void reset() {
    exclusively(
        () -> {
          request.truncate(0);
          return null;
        });
  }

  @Override
  public SessionOptions options() {
    return options;
  }

  @Override
  public int cachedTokens() {
    return cache.length();
  }

  /**
   * Returns the shared prefix that it started from, the same object for all such sessions; empty
   * for none.
   */
  public Optional<CachedPrefix> sharedPrefix() {
    return Optional.ofNullable(prefix).map(Prefix::source);
  }

  @Override
  public int length() {
    return request.length();
  }

  @Override
  public int contextLimit() {
    return contextLimit;
  }

  @Override
  public double bitsPerValue() {
    long values = model.config().cacheShape().valuesInWindows(cache.length());
    return values == 0 ? 0 : 8.0 * cache.bytes().keysAndValues() / values;
  }

  @Override
  public long cacheBytes() {
    return cache.bytes().total();
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
            if (drafter != null) {
              drafter.close();
            }
            return null;
          });
    }
  }
}
