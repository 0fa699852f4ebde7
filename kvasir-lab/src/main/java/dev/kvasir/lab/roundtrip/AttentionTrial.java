package dev.kvasir.lab.roundtrip;

import dev.kvasir.attention.Attention;
import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.KvCache;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.NpyWriter;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.concurrent.CancellationException;

/** Runs the last queries of a dump through the cache and through exact attention. */
final class AttentionTrial {
  private final HeadVectors queries;
  private final int tokens;
  private final KvCache cache;
  private final Attention attention;
  private final ExactAttention exact;
  private final RelativeError error = new RelativeError();
  private final float[] query; // (queryHeads, headDim)
  private final float[] found; // (queryHeads, headDim)
  private final double[] expected; // (queryHeads, headDim)

  AttentionTrial(
      Dump dump, HeadVectors queries, KvCache cache, Kernels kernels, WorkerPool workers) {
    AttentionShape shape =
        new AttentionShape(queries.heads(), dump.keys().heads(), queries.headDim());
    this.queries = queries;
    this.tokens = dump.tokens();
    this.cache = cache;
    this.attention = new Attention(shape, kernels, workers);
    this.exact = new ExactAttention(shape, dump.keys(), dump.values(), workers);
    this.query = new float[queries.heads() * queries.headDim()];
    this.found = new float[query.length];
    this.expected = new double[query.length];
  }

  /** Writes the outputs (queryHeads, count, headDim) and returns their relative error. */
  double run(int count, NpyWriter writer, RoundTripListener listener) {
    for (int i = 0; i < count; i++) {
      if (listener.isCancelled()) {
        throw new CancellationException();
      }
      attend(queries.tokens() - count + i, tokens - count + i);
      write(i, count, writer);
      listener.attended(i + 1, count);
    }
    return error.value();
  }

  /**
   * Attends with one token at a time, as in decoding, so that quantized pages are read directly.
   */
  private void attend(int row, int position) {
    queries.readToken(row, query);
    attention.begin();
    attention.add(cache, 0, 1, position);
    attention.attend(0, Integer.MAX_VALUE, query, found);
    exact.attend(query, position, expected);
    for (int i = 0; i < found.length; i++) {
      if (!Float.isFinite(found[i])) {
        throw overflow(i / queries.headDim(), row);
      }
      error.add(found[i], expected[i]);
    }
  }

  private InvalidInputException overflow(int head, int row) {
    return new InvalidInputException(
        "%s: head %d, token %d holds a number that is not finite, or too large to attend with"
            .formatted(queries.name(), head, row));
  }

  private void write(int i, int count, NpyWriter writer) {
    int headDim = queries.headDim();
    for (int head = 0; head < queries.heads(); head++) {
      writer.write(((long) head * count + i) * headDim, found, head * headDim, headDim);
    }
  }
}
