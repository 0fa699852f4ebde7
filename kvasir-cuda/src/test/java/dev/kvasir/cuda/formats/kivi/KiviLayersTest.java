package dev.kvasir.cuda.formats.kivi;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.engine.DeviceCache;
import dev.kvasir.cuda.engine.DeviceCacheFixture;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.ReferenceAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.HostCodes;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PackedPageReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Layers with widths of their own: pages with the host's bits, and their attention. */
class KiviLayersTest extends DeviceTestCase {
  private static final List<CodeWidths> WIDTHS =
      List.of(
          new CodeWidths(4, 2), new CodeWidths(1, 3), new CodeWidths(8, 1), new CodeWidths(2, 8));

  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int KV_HEADS = 2;
  private static final int SINKS = 5;
  private static final int GROUP = 64;
  private static final double MOST_ERROR = 3e-3;

  private final Random random = new Random(8);
  private final List<short[][][]> steps = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(ints = {64, 96, 128, 256})
  void everyLayerHasItsOwnWidths(int headDim) {
    AttentionShape shape = new AttentionShape(10, KV_HEADS, headDim);
    DeviceCacheConfig config = new DeviceCacheConfig(new KiviFormat(WIDTHS), GROUP, 64, SINKS);
    DeviceCacheFixture home = new DeviceCacheFixture(device, config, shape, WIDTHS.size());
    try (DeviceCache cache = home.newCache();
        KvCache host = CacheSpec.DEFAULT.newCache(home.cacheShape())) {
      append(home, cache, host, 300);
      append(home, cache, host, 420);
      assertThat(home.packedPages(cache)).isEqualTo(10);
      check(home, cache, cache, shape);
      try (DeviceCache fork = (DeviceCache) cache.fork()) {
        fork.truncate(SINKS + 9 * TOKENS + 3); // in the middle of a block, which becomes fp16 again
        assertThat(home.packedPages(fork)).isEqualTo(8);
        check(home, fork, cache, shape);
      }
      check(home, cache, cache, shape);
    }
  }

  private void append(DeviceCacheFixture home, DeviceCache cache, KvCache host, int count) {
    int width = KV_HEADS * home.cacheShape().headDim();
    short[][][] rows = new short[WIDTHS.size()][2][count * width];
    for (short[][] layer : rows) {
      for (short[] side : layer) {
        for (int i = 0; i < side.length; i++) {
          side[i] = Float.floatToFloat16((float) random.nextGaussian());
        }
      }
    }
    steps.add(rows);
    home.append(cache, host, rows);
  }

  /** Returns a head's rows. // (tokens, headDim) */
  private float[] rows(int layer, int side, int head, int dim, int tokens) {
    float[] all = new float[tokens * dim];
    int token = 0;
    for (short[][][] step : steps) {
      short[] rows = step[layer][side];
      for (int i = 0; i < rows.length / (KV_HEADS * dim) && token < tokens; i++, token++) {
        for (int c = 0; c < dim; c++) {
          all[token * dim + c] = Float.float16ToFloat(rows[(i * KV_HEADS + head) * dim + c]);
        }
      }
    }
    return all;
  }

  /**
   * @param whole the cache that it was truncated from, or itself
   */
  private void check(
      DeviceCacheFixture home, DeviceCache cache, DeviceCache whole, AttentionShape shape) {
    int dim = shape.headDim();
    short[] queries = new short[shape.queryHeads() * dim];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    for (int layer = 0; layer < WIDTHS.size(); layer++) {
      double[] wanted = new double[queries.length];
      for (int head = 0; head < KV_HEADS; head++) {
        float[] keys = stored(home, cache, whole, layer, 0, head, dim);
        float[] values = stored(home, cache, whole, layer, 1, head, dim);
        for (int h = 0; h < shape.queriesPerKvHead(); h++) {
          int at = (head * shape.queriesPerKvHead() + h) * dim;
          ReferenceAttention.attend(dim, queries, at, keys, values, cache.length(), wanted);
        }
      }
      float[] found = home.attend(cache, layer, queries);
      double off = 0;
      double norm = 0;
      for (int i = 0; i < wanted.length; i++) {
        off += (found[i] - wanted[i]) * (found[i] - wanted[i]);
        norm += wanted[i] * wanted[i];
      }
      assertThat(Math.sqrt(off / norm)).as("layer %d", layer).isLessThan(MOST_ERROR);
    }
  }

  /** Returns what a cache stores of a head; its fp16 tokens are those of the whole one. */
  private float[] stored(
      DeviceCacheFixture home,
      DeviceCache cache,
      DeviceCache whole,
      int layer,
      int side,
      int head,
      int dim) {
    float[] all = packed(home, whole, layer, side, head, dim);
    Fp16Page layout = new Fp16Page(dim);
    for (int t = SINKS + home.packedPages(cache) * TOKENS; t < cache.length(); t++) {
      long slot = home.slot(cache, t);
      int token = (int) (slot & TOKENS - 1);
      long address = slot - token + home.resources.offsets(layer).fp16();
      MemorySegment page = home.read(address + (long) head * layout.bytes(), layout.bytes());
      for (int c = 0; c < dim; c++) {
        int at = side == 0 ? layout.keyOffset(token, c) : layout.valueOffset(token, c);
        short rounded = Float.floatToFloat16(all[t * dim + c]);
        assertThat(page.get(JAVA_SHORT_UNALIGNED, at)).isEqualTo(rounded);
        all[t * dim + c] = Float.float16ToFloat(rounded);
      }
    }
    return Arrays.copyOf(all, cache.length() * dim);
  }

  /** Returns a head's rows with those of packed pages dequantized; pages have the host's bits. */
  private float[] packed(
      DeviceCacheFixture home, DeviceCache cache, int layer, int side, int head, int dim) {
    CodeWidths widths = WIDTHS.get(layer);
    PackedPage layout = new PackedPage(widths.keys(), widths.values(), dim);
    PackedPageReader reader = new PackedPageReader(layout);
    float[] all = rows(layer, side, head, dim, cache.length());
    for (int p = 0; p < home.packedPages(cache); p++) {
      long address = home.packedPage(cache, p) + home.resources.offsets(layer).packed();
      MemorySegment page = home.read(address + (long) head * layout.bytes(), layout.bytes());
      int first = (SINKS + p * TOKENS) * dim;
      float[] grid = Arrays.copyOfRange(all, first, first + TOKENS * dim);
      HostCodes.check(reader, side, GROUP, grid, List.of(page), found -> found);
      for (int i = 0; i < TOKENS * dim; i++) {
        all[first + i] =
            side == 0
                ? reader.key(page, i / dim, i % dim, 1)
                : reader.value(page, i / dim, i % dim, 1);
      }
    }
    return all;
  }
}
