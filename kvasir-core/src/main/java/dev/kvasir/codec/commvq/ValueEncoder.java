package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.TileWorkspace;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The encoder of one layer in the form that caches use, with matrices in half precision. A token
 * decodes to
 *
 * <pre>
 * value = scale * sum of rows of set bits,   row = codebook row * channel scales
 * scale = length of the input / |sum of codebook rows|
 * </pre>
 *
 * so that a decoded token is as long as the original, measured after division by channel scales.
 * Thread safe: every thread brings its {@link Workspace}.
 *
 * @param channelScales // (width)
 * @param gain // (width)
 * @param shift // (width)
 * @param inner // (hidden, width)
 * @param innerBias // (hidden)
 * @param outer // (2 * bits, hidden)
 * @param outerBias // (2 * bits)
 * @param codebook without channel scales // (bits, width)
 * @param rows by KV head, with channel scales // (bits, width / kvHeads)
 */
public record ValueEncoder(
    float[] channelScales,
    float[] gain,
    float[] shift,
    DenseMatrix inner,
    float[] innerBias,
    DenseMatrix outer,
    float[] outerBias,
    DenseMatrix codebook,
    List<DenseMatrix> rows) {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final float LARGEST_HALF = 65504;

  /** Tokens that pass through the network together, so that their activations stay in cache. */
  private static final int BATCH = 16;

  public static ValueEncoder of(EncoderWeights weights, int kvHeads, SegmentAllocator memory) {
    int width = weights.width();
    return new ValueEncoder(
        weights.channelScales(),
        weights.gain(),
        weights.shift(),
        halves(weights.inner(), width, memory),
        weights.innerBias(),
        halves(weights.outer(), weights.hidden(), memory),
        weights.outerBias(),
        halves(weights.codebook(), width, memory),
        IntStream.range(0, kvHeads)
            .mapToObj(head -> halves(rows(weights, head, kvHeads), width / kvHeads, memory))
            .toList());
  }

  private static float[] rows(EncoderWeights weights, int head, int kvHeads) {
    int headDim = weights.width() / kvHeads;
    float[] rows = new float[weights.bits() * headDim];
    for (int i = 0; i < rows.length; i++) {
      int channel = head * headDim + i % headDim;
      float scale = weights.channelScales()[channel] + EncoderInput.EPSILON;
      rows[i] = weights.codebook()[i / headDim * weights.width() + channel] * scale;
    }
    return rows;
  }

  private static DenseMatrix halves(float[] numbers, int columns, SegmentAllocator memory) {
    MemorySegment data = memory.allocate((long) Short.BYTES * numbers.length, Short.BYTES);
    for (int i = 0; i < numbers.length; i++) {
      data.set(SHORT, (long) Short.BYTES * i, Float.floatToFloat16(numbers[i]));
    }
    return new DenseMatrix(Precision.F16, numbers.length / columns, columns, data);
  }

  /** Returns the channels of a token, all KV heads together. */
  public int width() {
    return channelScales.length;
  }

  public int hidden() {
    return innerBias.length;
  }

  /** Returns the bits of a token. */
  public int bits() {
    return codebook.rows();
  }

  /** Returns {@link #bytes} in advance. */
  public static long bytesFor(long width, long hidden, long bits) {
    long halves = hidden * width + 2 * bits * hidden + 2 * bits * width;
    return Short.BYTES * halves + Float.BYTES * (3 * width + hidden + 2 * bits);
  }

  public long bytes() {
    return bytesFor(width(), hidden(), bits());
  }

  /** A thread's memory for {@link #encode}. */
  public static final class Workspace {
    private final TileWorkspace tiles = new TileWorkspace();
    private final RowBlock in = new RowBlock();
    private final RowBlock out = new RowBlock();
    private final float[] lengths = new float[BATCH];
    private final float[] normalized; // (BATCH, width), then sums of codebook rows
    private final float[] active; // (BATCH, hidden)
    private final float[] logits; // (BATCH, 2 * bits)
    private final float[] set; // (BATCH, bits), 0 or 1

    public Workspace(ValueEncoder encoder) {
      this.normalized = new float[BATCH * encoder.width()];
      this.active = new float[BATCH * encoder.hidden()];
      this.logits = new float[BATCH * 2 * encoder.bits()];
      this.set = new float[BATCH * encoder.bits()];
    }
  }

  /**
   * Encodes tokens. The result for a token does not depend on the others.
   *
   * @param x (count, width)
   * @param bits (count, bits) 0 or 1, set
   * @param scales (count) halves, set
   */
  public void encode(
      Kernels kernels, Workspace workspace, float[] x, int count, byte[] bits, short[] scales) {
    for (int from = 0; from < count; from += BATCH) {
      int tokens = Math.min(BATCH, count - from);
      computeLogits(kernels, workspace, x, from * width(), tokens);
      chooseBits(workspace, tokens, bits, from * bits());
      computeScales(kernels, workspace, tokens, scales, from);
    }
  }

  private void computeLogits(Kernels kernels, Workspace workspace, float[] x, int at, int tokens) {
    int width = width();
    float[] n = workspace.normalized;
    for (int token = 0; token < tokens; token++) {
      int to = token * width;
      workspace.lengths[token] = EncoderInput.normalize(x, at + to, channelScales, n, to);
      for (int i = 0; i < width; i++) {
        n[to + i] = Math.fma(n[to + i], gain[i], shift[i]);
      }
    }
    RowBlock hidden = workspace.out.set(workspace.active, tokens, hidden());
    kernels.halves().products(n, inner, 0, hidden, workspace.tiles);
    for (int i = 0; i < tokens * hidden(); i++) {
      workspace.active[i] = ExactGelu.of(workspace.active[i] + innerBias[i % hidden()]);
    }
    RowBlock logits = workspace.out.set(workspace.logits, tokens, outerBias.length);
    kernels.halves().products(workspace.active, outer, 0, logits, workspace.tiles);
    for (int i = 0; i < tokens * outerBias.length; i++) {
      workspace.logits[i] += outerBias[i % outerBias.length];
    }
  }

  private void chooseBits(Workspace workspace, int tokens, byte[] bits, int at) {
    for (int pair = 0; pair < tokens * bits() / 2; pair++) {
      int choice = BitPairs.choice(workspace.logits, pair * BitPairs.CHOICES);
      byte first = (byte) (BitPairs.first(choice) ? 1 : 0);
      byte second = (byte) (BitPairs.second(choice) ? 1 : 0);
      bits[at + 2 * pair] = first;
      bits[at + 2 * pair + 1] = second;
      workspace.set[2 * pair] = first;
      workspace.set[2 * pair + 1] = second;
    }
  }

  private void computeScales(
      Kernels kernels, Workspace workspace, int tokens, short[] scales, int at) {
    int width = width();
    float[] sums = workspace.normalized;
    Arrays.fill(sums, 0, tokens * width, 0);
    RowBlock set = workspace.in.set(workspace.set, tokens, bits());
    kernels.halves().weightedSums(set, codebook, 0, workspace.out.set(sums, tokens, width));
    for (int token = 0; token < tokens; token++) {
      double square = 0;
      for (int i = token * width; i < (token + 1) * width; i++) {
        square += (double) sums[i] * sums[i];
      }
      double scale =
          (workspace.lengths[token] + EncoderInput.EPSILON)
              / (Math.sqrt(square) + EncoderInput.EPSILON);
      scales[at + token] = Float.floatToFloat16((float) Math.min(scale, LARGEST_HALF));
    }
  }

  /**
   * Decodes tokens.
   *
   * @param bits (count, bits)
   * @param scales (count)
   * @param x (count, width), set
   */
  public void decode(Kernels kernels, byte[] bits, short[] scales, int count, float[] x) {
    int headDim = width() / rows.size();
    float[] weights = new float[count * bits()];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = bits[i] * Float.float16ToFloat(scales[i / bits()]);
    }
    Arrays.fill(x, 0, count * width(), 0);
    for (int head = 0; head < rows.size(); head++) {
      kernels
          .halves()
          .weightedSums(
              RowBlock.of(weights, count, bits()),
              rows.get(head),
              0,
              RowBlock.of(x, head * headDim, width(), count, headDim));
    }
  }
}
