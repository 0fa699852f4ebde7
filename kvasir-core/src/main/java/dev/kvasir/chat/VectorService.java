package dev.kvasir.chat;

import dev.kvasir.Embedder.Embedding;
import dev.kvasir.KvasirException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EmbedderLoader;
import dev.kvasir.runtime.LoadedEncoder;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.LocalEmbedder;
import dev.kvasir.runtime.LocalReranker;
import dev.kvasir.runtime.RerankerLoader;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * Serves embeddings and scores. Their requests queue with those for completions and reserve the
 * memory of the texts that run at once; a request of many texts takes no more than a share of it.
 */
public final class VectorService implements AutoCloseable {
  /** A request that needs more runs fewer texts at once. */
  private static final int MEMORY_SHARE = 4;

  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

  private final Admission admission;
  private final int maxSequences;
  private final Duration timeout;
  private final Optional<LocalEmbedder> embedder;
  private final Optional<LocalReranker> reranker;

  private VectorService(
      Admission admission,
      ServingOptions options,
      Optional<LocalEmbedder> embedder,
      Optional<LocalReranker> reranker) {
    this.admission = admission;
    this.maxSequences = options.maxSequences();
    this.timeout = options.timeout();
    this.embedder = embedder;
    this.reranker = reranker;
  }

  /** Returns a service that uses a decoder, as far as its device and its vocabulary allow. */
  static VectorService of(LoadedModel model, Admission admission, ServingOptions options) {
    return new VectorService(
        admission,
        options,
        supported(() -> EmbedderLoader.of(model)),
        supported(() -> RerankerLoader.of(model)));
  }

  private interface Loader<T> {
    T load();
  }

  private static <T> Optional<T> supported(Loader<T> loader) {
    try {
      return Optional.of(loader.load());
    } catch (InvalidInputException e) {
      return Optional.empty();
    }
  }

  /** Returns a service of an encoder, which takes no cache memory and stays open. */
  public static VectorService of(LoadedEncoder encoder, ServingOptions options) {
    return new VectorService(
        new Admission(Long.MAX_VALUE, options.maxSequences(), options.maxQueued()),
        options,
        encoder.embedder(),
        encoder.reranker());
  }

  public Admission admission() {
    return admission;
  }

  public Optional<LocalEmbedder> embedder() {
    return embedder;
  }

  public Optional<LocalReranker> reranker() {
    return reranker;
  }

  /**
   * Returns the vectors of texts, when they are admitted and computed.
   *
   * @param mayGoOn called often; what it throws ends the work
   * @throws KvasirException if they are not admitted, or do not end in time
   */
  public List<Embedding> embed(List<int[]> texts, Runnable mayGoOn) {
    LocalEmbedder model = embedder.orElseThrow();
    int[] lengths = texts.stream().mapToInt(tokens -> tokens.length).toArray();
    int atOnce = atOnce(lengths, model.concurrency(), model::maxBytes);
    return admitted(
        atOnce,
        bytes(lengths, atOnce, model::maxBytes),
        mayGoOn,
        check -> model.embedAll(texts, atOnce, check));
  }

  /**
   * Returns the scores of pairs, when they are admitted and computed.
   *
   * @param mayGoOn called often; what it throws ends the work
   * @throws KvasirException if they are not admitted, or do not end in time
   */
  public List<Float> score(List<LocalReranker.Pair> pairs, Runnable mayGoOn) {
    LocalReranker model = reranker.orElseThrow();
    int[] lengths = pairs.stream().mapToInt(pair -> pair.tokens().length).toArray();
    int atOnce = atOnce(lengths, model.concurrency(), model::maxBytes);
    return admitted(
        atOnce,
        bytes(lengths, atOnce, model::maxBytes),
        mayGoOn,
        check -> model.scoreAll(pairs, atOnce, check));
  }

  /** Returns how many texts may run at once. */
  private int atOnce(int[] lengths, int concurrency, IntToLongFunction maxBytes) {
    int most = Math.min(Math.min(concurrency, maxSequences), lengths.length);
    while (most > 1 && bytes(lengths, most, maxBytes) > admission.limit() / MEMORY_SHARE) {
      most--;
    }
    return most;
  }

  /** Returns the bytes of the longest {@code atOnce} texts. */
  private static long bytes(int[] lengths, int atOnce, IntToLongFunction maxBytes) {
    return IntStream.of(lengths)
        .map(length -> -length)
        .sorted()
        .limit(atOnce)
        .mapToLong(length -> maxBytes.applyAsLong(-length))
        .sum();
  }

  private interface Work<T> {
    T run(Runnable check);
  }

  private <T> T admitted(int sequences, long bytes, Runnable mayGoOn, Work<T> work) {
    Admission.Need need = new Admission.Need(sequences, bytes, null, 0);
    long end = System.nanoTime() + timeout.toNanos();
    Runnable check =
        () -> {
          requireTime(end);
          mayGoOn.run();
        };
    try (Admission.Permit _ = admission.admit(sequences, bytes, false, () -> need, check)) {
      return work.run(check);
    }
  }

  /** Ends the requests with an error and waits for them. The model stays open. */
  @Override
  public void close() {
    admission.stop();
    long end = System.nanoTime() + SHUTDOWN_TIMEOUT.toNanos();
    try {
      while (admission.running() > 0 && System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void requireTime(long end) {
    admission.requireOpen();
    if (System.nanoTime() > end) {
      throw new KvasirException(
          KvasirException.Reason.TIMED_OUT,
          "the request took longer than %d seconds, which is the most"
              .formatted(timeout.toSeconds()));
    }
  }
}
