package dev.kvasir.lab.roundtrip;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.NpyWriter;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.OptionalDouble;

/**
 * Feeds a dump to a cache as decoding would and writes its contents: dequantized keys and values,
 * and the attention outputs over them.
 */
public final class RoundTrip {
  private final Dump dump;
  private final RoundTripOptions options;
  private final RoundTripListener listener;
  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();

  private RoundTrip(Dump dump, RoundTripOptions options, RoundTripListener listener) {
    this.dump = dump;
    this.options = options;
    this.listener = listener;
  }

  /**
   * Runs a round trip. The files appear only after all work is done.
   *
   * @throws java.util.concurrent.CancellationException if the listener cancelled it
   */
  public static RoundTripResult run(
      Dump dump, RoundTripOptions options, OutputFolder folder, RoundTripListener listener) {
    if (options.prefill() > dump.tokens()) {
      throw new InvalidInputException(
          "prefill is %d; expected at most %d, the tokens of %s"
              .formatted(options.prefill(), dump.tokens(), dump.keys().name()));
    }
    CacheShape shape = dump.cacheShape();
    CacheContext context =
        CacheContext.unknown()
            .withRotation(options.rotation(shape.headDim()))
            .withQueryHeads(dump.queries().map(HeadVectors::heads).orElse(0))
            .withContextLimit(dump.tokens());
    try (KvCache cache = options.cache().newCache(shape, context)) {
      return new RoundTrip(dump, options, listener).run(cache, folder);
    }
  }

  private RoundTripResult run(KvCache cache, OutputFolder folder) {
    long[] shape = dump.keys().tensor().shape();
    try (NpyWriter keys = folder.begin(OutputFolder.KEYS, shape);
        NpyWriter values = folder.begin(OutputFolder.VALUES, shape)) {
      new CacheFeeder(dump, cache, listener).run(options.prefill());
      double keyError =
          writeExpanded(
              cache,
              (head, block, tokens, out) ->
                  cache.view(0, block).expandKeys(kernels, head, tokens, out),
              dump.keys(),
              keys);
      double valueError =
          writeExpanded(
              cache,
              (head, block, tokens, out) ->
                  cache.view(0, block).expandValues(kernels, head, tokens, out),
              dump.values(),
              values);
      OptionalDouble outputError =
          dump.queries().stream().mapToDouble(queries -> attend(queries, cache, folder)).findAny();
      keys.finish();
      values.finish();
      CacheBytes bytes = cache.bytes();
      return new RoundTripResult(bitsPerValue(bytes), bytes, keyError, valueError, outputError);
    }
  }

  private double bitsPerValue(CacheBytes bytes) {
    long held = dump.tokens() * dump.cacheShape().valuesPerToken();
    return held == 0 ? 0 : 8.0 * bytes.total() / held;
  }

  /** Dequantizes one block of a head: (tokens, headDim). */
  private interface Expansion {
    void expand(int kvHead, int block, int tokens, float[] out);
  }

  private static double writeExpanded(
      KvCache cache, Expansion expansion, HeadVectors input, NpyWriter writer) {
    RelativeError error = new RelativeError();
    for (int block = 0; cache.firstPosition(block) < cache.length(); block++) {
      int first = cache.firstPosition(block);
      int tokens = Math.min(cache.firstPosition(block + 1), cache.length()) - first;
      float[] found = new float[tokens * input.headDim()];
      float[] expected = new float[found.length];
      for (int head = 0; head < input.heads(); head++) {
        expansion.expand(head, block, tokens, found);
        input.read(head, first, tokens, expected, 0);
        error.add(found, expected);
        writer.write(input.index(head, first), found, 0, found.length);
      }
    }
    return error.value();
  }

  private double attend(HeadVectors queries, KvCache cache, OutputFolder folder) {
    int count = Math.min(options.attend(), queries.tokens());
    try (WorkerPool workers = new WorkerPool(Runtime.getRuntime().availableProcessors());
        NpyWriter output =
            folder.begin(OutputFolder.OUTPUT, queries.heads(), count, queries.headDim())) {
      AttentionTrial trial = new AttentionTrial(dump, queries, cache, kernels, workers);
      double error = trial.run(count, output, listener);
      output.finish();
      return error;
    }
  }
}
