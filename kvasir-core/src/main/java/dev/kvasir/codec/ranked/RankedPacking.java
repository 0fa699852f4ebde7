package dev.kvasir.codec.ranked;

import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.CodeRoom;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Packs a layer's page by what recent queries have looked at. */
final class RankedPacking {
  private static final int TOKENS = Page.TOKENS;

  private final RankedCodec codec;
  private final RankedShape shape;
  private final RecentQueries recent;
  private final ReceivedAttention attention;
  private final CodeRoom room = new CodeRoom();
  private final int[] places = new int[TOKENS];

  RankedPacking(RankedCodec codec, RecentQueries recent) {
    this.codec = codec;
    this.shape = codec.shape();
    this.recent = recent;
    this.attention = codec.newAttention();
  }

  /**
   * @param keys (kvHeads, tokens, keyDim), changed
   * @param values (kvHeads, tokens, valueDim), changed
   */
  Page pack(SharedArena memory, int position, float[] keys, float[] values) {
    int kvHeads = codec.model().kvHeads();
    RankedPage page = new RankedPage(memory, kvHeads, shape, codec.settings().lookups());
    try {
      for (int head = 0; head < kvHeads; head++) {
        int keysAt = head * TOKENS * shape.keyDim();
        int valuesAt = head * TOKENS * shape.valueDim();
        double[] received = attention.of(recent, head, position, keys, keysAt);
        for (int token : mostReceived(received)) {
          page.mark(head, token);
        }
        page.copyPlaces(head, places);
        divide(page, head, keys, keysAt, values, valuesAt);
        packTiers(page, head, keys, keysAt, values, valuesAt);
      }
      return page;
    } catch (RuntimeException | Error e) {
      page.close();
      throw e;
    }
  }

  /** Of tokens that have received as much the earlier ones. */
  private int[] mostReceived(double[] received) {
    return IntStream.range(0, TOKENS)
        .boxed()
        .sorted(Comparator.comparingDouble(token -> -received[token]))
        .limit(shape.tokens(0))
        .mapToInt(token -> token)
        .toArray();
  }

  private void divide(
      RankedPage page, int head, float[] keys, int keysAt, float[] values, int valuesAt) {
    if (shape.dividesKeys()) {
      float[] factors =
          codec.settings().factors() == KeyFactors.BALANCE
              ? ChannelFactors.ofBalance(keys, keysAt, shape.keyDim(), queries(head))
              : ChannelFactors.ofReach(keys, keysAt, shape.keyDim());
      page.putFactors(page.offset(head) + shape.keyFactorsOffset(), factors);
      divide(keys, keysAt, factors);
    }
    if (shape.dividesValues()) {
      float[] factors = ChannelFactors.ofReach(values, valuesAt, shape.valueDim());
      page.putFactors(page.offset(head) + shape.valueFactorsOffset(), factors);
      divide(values, valuesAt, factors);
    }
  }

  private static void divide(float[] x, int at, float[] factors) {
    for (int i = 0; i < TOKENS * factors.length; i++) {
      x[at + i] /= factors[i % factors.length];
    }
  }

  /** All that are known, of the query heads that share a KV head. // (queries, keyDim) */
  private float[] queries(int head) {
    int count = codec.model().queriesPerKvHead() * shape.keyDim();
    int[] known =
        IntStream.range(0, recent.places()).filter(place -> recent.position(place) >= 0).toArray();
    float[] queries = new float[known.length * count];
    for (int i = 0; i < known.length; i++) {
      recent.read(known[i], head * count, count, queries, i * count);
    }
    return queries;
  }

  private void packTiers(
      RankedPage page, int head, float[] keys, int keysAt, float[] values, int valuesAt) {
    int keyDim = shape.keyDim();
    int valueDim = shape.valueDim();
    int first = 0;
    for (int tier = 0; tier < RankedShape.TIERS; tier++) {
      int tokens = shape.tokens(tier);
      CodeGrid keyGrid = shape.keys().get(tier);
      float[] grid = room.grid(tokens * Math.max(keyDim, valueDim));
      for (int i = 0; i < tokens; i++) {
        for (int channel = 0; channel < keyDim; channel++) {
          grid[channel * tokens + i] = keys[keysAt + places[first + i] * keyDim + channel];
        }
      }
      keyGrid.pack(room, grid, page.bytes(), page.offset(head) + shape.keysOffset(tier));
      for (int i = 0; i < tokens; i++) {
        int from = valuesAt + places[first + i] * valueDim;
        System.arraycopy(values, from, grid, i * valueDim, valueDim);
      }
      long valuesOffset = page.offset(head) + shape.valuesOffset(tier);
      shape.values().get(tier).pack(room, grid, page.bytes(), valuesOffset);
      first += tokens;
    }
  }
}
