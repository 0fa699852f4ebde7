package dev.kvasir.methods.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.CodeScratch;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Quantizes a layer's page by the attention of recent queries. */
final class RankedPageQuantizer {
  private static final int TOKENS = Page.TOKENS;

  private final RankedCodec codec;
  private final RankedHeadLayout layout;
  private final RecentQueries recent;
  private final ReceivedAttention attention;
  private final CodeScratch scratch = new CodeScratch();
  private final int[] tierOrder = new int[TOKENS];

  RankedPageQuantizer(RankedCodec codec, RecentQueries recent) {
    this.codec = codec;
    this.layout = codec.layout();
    this.recent = recent;
    this.attention = codec.newReceivedAttention();
  }

  /**
   * @param keys (kvHeads, tokens, keyDim), overwritten
   * @param values (kvHeads, tokens, valueDim), overwritten
   */
  Page quantize(SharedArena memory, int position, float[] keys, float[] values) {
    int kvHeads = codec.rankedSizes().kvHeads();
    RankedPage page = new RankedPage(memory, kvHeads, layout, codec.settings().operandPrecision());
    try {
      for (int head = 0; head < kvHeads; head++) {
        int keysAt = head * TOKENS * layout.keyDim();
        int valuesAt = head * TOKENS * layout.valueDim();
        double[] received = attention.of(recent, head, position, keys, keysAt);
        for (int token : mostAttended(received)) {
          page.markSalient(head, token);
        }
        page.readTierOrder(head, tierOrder);
        divide(page, head, keys, keysAt, values, valuesAt);
        quantizeTiers(page, head, keys, keysAt, values, valuesAt);
      }
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    }
  }

  /** Returns the tokens that received the most attention; the earlier ones of equals. */
  private int[] mostAttended(double[] received) {
    return IntStream.range(0, TOKENS)
        .boxed()
        .sorted(Comparator.comparingDouble(token -> -received[token]))
        .limit(layout.salient())
        .mapToInt(token -> token)
        .toArray();
  }

  private void divide(
      RankedPage page, int head, float[] keys, int keysAt, float[] values, int valuesAt) {
    if (layout.dividesKeys()) {
      float[] factors =
          codec.settings().factors() == KeyChannelFactors.BALANCED
              ? ChannelFactors.balanced(keys, keysAt, layout.keyDim(), queries(head))
              : ChannelFactors.fromMagnitudes(keys, keysAt, layout.keyDim());
      page.putFactors(page.offset(head) + layout.keyFactorsOffset(), factors);
      divide(keys, keysAt, factors);
    }
    if (layout.dividesValues()) {
      float[] factors = ChannelFactors.fromMagnitudes(values, valuesAt, layout.valueDim());
      page.putFactors(page.offset(head) + layout.valueFactorsOffset(), factors);
      divide(values, valuesAt, factors);
    }
  }

  private static void divide(float[] x, int at, float[] factors) {
    for (int i = 0; i < TOKENS * factors.length; i++) {
      x[at + i] /= factors[i % factors.length];
    }
  }

  /** Returns all recorded queries of the query heads that share a KV head. // (queries, keyDim) */
  private float[] queries(int head) {
    int count = codec.rankedSizes().queriesPerKvHead() * layout.keyDim();
    int[] occupied =
        IntStream.range(0, recent.capacity()).filter(slot -> recent.position(slot) >= 0).toArray();
    float[] queries = new float[occupied.length * count];
    for (int i = 0; i < occupied.length; i++) {
      recent.read(occupied[i], head * count, count, queries, i * count);
    }
    return queries;
  }

  private void quantizeTiers(
      RankedPage page, int head, float[] keys, int keysAt, float[] values, int valuesAt) {
    int keyDim = layout.keyDim();
    int valueDim = layout.valueDim();
    int first = 0;
    for (int tier = 0; tier < layout.tiers(); tier++) {
      int tokens = layout.tokens(tier);
      CodeMatrix keyGrid = layout.keys().get(tier);
      float[] grid = scratch.values(tokens * Math.max(keyDim, valueDim));
      for (int i = 0; i < tokens; i++) {
        for (int channel = 0; channel < keyDim; channel++) {
          grid[channel * tokens + i] = keys[keysAt + tierOrder[first + i] * keyDim + channel];
        }
      }
      keyGrid.quantize(scratch, grid, page.bytes(), page.offset(head) + layout.keysOffset(tier));
      for (int i = 0; i < tokens; i++) {
        int from = valuesAt + tierOrder[first + i] * valueDim;
        System.arraycopy(values, from, grid, i * valueDim, valueDim);
      }
      long valuesOffset = page.offset(head) + layout.valuesOffset(tier);
      layout.values().get(tier).quantize(scratch, grid, page.bytes(), valuesOffset);
      first += tokens;
    }
  }

  /**
   * Factors that channels of a head are divided by before per-token quantization, so that no
   * channel dominates a token's range. They are positive, finite halves.
   */
  private static final class ChannelFactors {
    /** Bounds of the roots of halves and of their quotients. */
    private static final float MIN_FACTOR = 0x1p-12f;

    private static final float MAX_FACTOR = 0x1p12f;

    /** Returns the root of each channel's largest magnitude. // (channels) */
    static float[] fromMagnitudes(float[] x, int at, int channels) {
      return fromMagnitudes(x, at, Page.TOKENS, channels);
    }

    private static float[] fromMagnitudes(float[] x, int at, int rows, int channels) {
      float[] magnitudes = new float[channels];
      for (int i = 0; i < rows * channels; i++) {
        magnitudes[i % channels] = Math.max(magnitudes[i % channels], Math.abs(x[at + i]));
      }
      for (int channel = 0; channel < channels; channel++) {
        magnitudes[channel] = half((float) Math.sqrt(magnitudes[channel]));
      }
      return magnitudes;
    }

    /** Returns the same, divided by the root of each channel's largest query magnitude. */
    static float[] balanced(float[] keys, int at, int keyDim, float[] queries) {
      float[] factors = fromMagnitudes(keys, at, keyDim);
      float[] magnitudes = fromMagnitudes(queries, 0, queries.length / keyDim, keyDim);
      for (int channel = 0; channel < keyDim; channel++) {
        factors[channel] = half(factors[channel] / magnitudes[channel]);
      }
      return factors;
    }

    /** Rounds to a half; 1 for a channel of zeros. */
    private static float half(float factor) {
      return factor == 0
          ? 1
          : Float.float16ToFloat(Float.floatToFloat16(Math.clamp(factor, MIN_FACTOR, MAX_FACTOR)));
    }
  }
}
