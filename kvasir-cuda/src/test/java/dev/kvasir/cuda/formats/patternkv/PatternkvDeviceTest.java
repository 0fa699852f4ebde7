package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.patternkv.PatternLabels;
import dev.kvasir.codec.patternkv.PatternkvPage;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.engine.DeviceCache;
import dev.kvasir.cuda.engine.DeviceCacheFixture;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.ReferenceAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.HostCodes;
import dev.kvasir.kernel.ScalarKernels;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PatternKV on a device compared with the host codec bit by bit, and its attention. */
class PatternkvDeviceTest extends DeviceTestCase {
  private static final int LAYERS = 2;
  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int BLOCK = 128;
  private static final double MOST_ERROR = 3e-3;

  private final Random random = new Random(7);

  /** A device cache and a host cache, with everything that was appended to both. */
  private final class CachePair implements AutoCloseable {
    final DeviceCacheFixture home;
    final AttentionShape shape;
    final int sinks;
    final int group;
    final int bits;
    final DeviceCache ours;
    final KvCache host;
    final List<short[][][]> rows; // by step

    CachePair(String text, AttentionShape shape) {
      CacheSpec spec = CacheSpec.parse(text);
      DeviceCacheConfig cacheConfig = DeviceCacheConfig.of(spec);
      this.shape = shape;
      this.sinks = cacheConfig.sinks();
      this.group = cacheConfig.group();
      this.bits = cacheConfig.format().bits();
      this.home = new DeviceCacheFixture(device, cacheConfig, shape, LAYERS);
      this.ours = home.newCache();
      this.host = spec.newCache(new CacheShape(LAYERS, shape.kvHeads(), shape.headDim()));
      this.rows = new ArrayList<>();
    }

    private CachePair(CachePair parent) {
      this.home = parent.home;
      this.shape = parent.shape;
      this.sinks = parent.sinks;
      this.group = parent.group;
      this.bits = parent.bits;
      this.ours = (DeviceCache) parent.ours.fork();
      this.host = parent.host.fork();
      this.rows = new ArrayList<>(parent.rows);
    }

    CachePair fork() {
      return new CachePair(this);
    }

    void append(int... steps) {
      for (int count : steps) {
        short[][][] step = random(count);
        rows.add(step);
        home.append(ours, host, step);
      }
    }

    private int width() {
      return shape.kvHeads() * shape.headDim();
    }

    /** Creates rows near one of a few vectors, so that patterns help; some are near none. */
    private short[][][] random(int count) {
      short[][][] step = new short[LAYERS][2][count * width()];
      for (short[][] layer : step) {
        for (short[] side : layer) {
          for (int i = 0; i < count; i++) {
            Random centre = new Random(random.nextInt(20));
            double noise = random.nextInt(4) == 0 ? 1 : 0.3;
            for (int c = 0; c < width(); c++) {
              side[i * width() + c] =
                  Float.floatToFloat16(
                      (float) (centre.nextGaussian() + noise * random.nextGaussian()));
            }
          }
        }
      }
      return step;
    }

    /** Returns all appended rows that remain. // (length, kvHeads, headDim) */
    float[] all(int layer, int side) {
      float[] all = new float[ours.length() * width()];
      int at = 0;
      for (short[][][] step : rows) {
        float[] part = DeviceCacheFixture.floats(step[layer][side]);
        int count = Math.min(part.length, all.length - at);
        System.arraycopy(part, 0, all, at, count);
        at += count;
      }
      return all;
    }

    PatternPageReader reader() {
      return new PatternPageReader(bits, shape.headDim());
    }

    MemorySegment page(int layer, int page, int head) {
      long bytes = reader().layout().bytes();
      long at = home.packedPage(ours, page) + home.resources.offsets(layer).packed() + head * bytes;
      return home.read(at, bytes);
    }

    List<MemorySegment> banks(int layer, int head) {
      long bytes = PatternPage.bankBytes(shape.headDim());
      List<MemorySegment> banks = new ArrayList<>();
      for (long entry : home.tableEntries(ours)) {
        long at = (entry & -TOKENS) + home.resources.offsets(layer).tables() + head * bytes;
        banks.add(home.read(at, bytes));
      }
      return banks;
    }

    /** Compares all packed pages with the host's. */
    void check() {
      int blocks = home.packedPages(ours) / 2;
      assertThat(blocks).isEqualTo((host.length() - sinks - BLOCK) / BLOCK);
      for (int layer = 0; layer < LAYERS; layer++) {
        for (int head = 0; head < shape.kvHeads(); head++) {
          List<MemorySegment> banks = banks(layer, head);
          for (int block = 0; block < blocks; block++) {
            check(layer, head, block, banks);
          }
        }
      }
    }

    private void check(int layer, int head, int block, List<MemorySegment> banks) {
      int hostBlock = host.blockOf(sinks + block * BLOCK);
      PatternkvPage page = (PatternkvPage) host.view(layer, hostBlock).page();
      List<MemorySegment> ours =
          List.of(page(layer, 2 * block, head), page(layer, 2 * block + 1, head));
      for (int side = 0; side < 2; side++) {
        PatternLabels labels = (side == 0 ? page.keys() : page.values()).orElseThrow();
        byte[] chosen = new byte[BLOCK];
        labels.read(head, chosen);
        int dim = shape.headDim();
        float[] patterns = new float[labels.patterns().count() * dim];
        labels.patterns().expand(new ScalarKernels(), layer, head, 0, patterns);
        for (int i = 0; i < patterns.length; i++) {
          int pattern = i / dim;
          float found =
              reader()
                  .pattern(banks.get(pattern / PatternPage.BANK_PATTERNS), side, pattern, i % dim);
          assertThat(found).as("pattern %d of side %d", pattern, side).isEqualTo(patterns[i]);
        }
        float[] residuals = residuals(layer, head, block, side, chosen, patterns);
        for (int token = 0; token < BLOCK; token++) {
          assertThat(reader().label(ours.get(token / TOKENS), side, token % TOKENS))
              .as("label of token %d of block %d, side %d", token, block, side)
              .isEqualTo(Byte.toUnsignedInt(chosen[token]));
        }
        HostCodes.check(reader().codes(), side, group, residuals, ours, reader()::residuals);
      }
    }

    /** (128, headDim) */
    private float[] residuals(
        int layer, int head, int block, int side, byte[] chosen, float[] patterns) {
      int dim = shape.headDim();
      float[] all = all(layer, side);
      float[] residuals = new float[BLOCK * dim];
      for (int i = 0; i < residuals.length; i++) {
        int token = i / dim;
        int pattern = Byte.toUnsignedInt(chosen[token]);
        float x = all[((sinks + block * BLOCK + token) * shape.kvHeads() + head) * dim + i % dim];
        residuals[i] =
            x - (pattern == PatternPageReader.NONE ? 0 : patterns[pattern * dim + i % dim]);
      }
      return residuals;
    }

    /** Returns a head's keys or values as attention should see them. // (length, headDim) */
    float[] dequantized(int layer, int head, int side) {
      int dim = shape.headDim();
      float[] all = all(layer, side);
      float[] out = new float[ours.length() * dim];
      for (int i = 0; i < out.length; i++) {
        out[i] = all[(i / dim * shape.kvHeads() + head) * dim + i % dim];
      }
      List<MemorySegment> banks = banks(layer, head);
      for (int page = 0; page < home.packedPages(ours); page++) {
        MemorySegment bytes = page(layer, page, head);
        MemorySegment codes = reader().residuals(bytes);
        for (int token = 0; token < TOKENS; token++) {
          int label = reader().label(bytes, side, token);
          for (int c = 0; c < dim; c++) {
            float residual =
                side == 0
                    ? reader().codes().key(codes, token, c, 1)
                    : reader().codes().value(codes, token, c, 1);
            float pattern =
                label == PatternPageReader.NONE
                    ? 0
                    : reader()
                        .pattern(banks.get(label / PatternPage.BANK_PATTERNS), side, label, c);
            out[(sinks + page * TOKENS + token) * dim + c] = residual + pattern;
          }
        }
      }
      return out;
    }

    void checkAttention() {
      short[] queries = new short[shape.queryHeads() * shape.headDim()];
      for (int i = 0; i < queries.length; i++) {
        queries[i] = Float.floatToFloat16((float) random.nextGaussian());
      }
      for (int layer = 0; layer < LAYERS; layer++) {
        double[] wanted = new double[queries.length];
        for (int head = 0; head < shape.queryHeads(); head++) {
          int kvHead = head / shape.queriesPerKvHead();
          ReferenceAttention.attend(
              shape.headDim(),
              queries,
              head * shape.headDim(),
              dequantized(layer, kvHead, 0),
              dequantized(layer, kvHead, 1),
              ours.length(),
              wanted);
        }
        assertThat(error(home.attend(ours, layer, queries), wanted))
            .as("%d tokens, layer %d", ours.length(), layer)
            .isLessThan(MOST_ERROR);
      }
    }

    @Override
    public void close() {
      ours.close();
      host.close();
    }
  }

  private static double error(float[] found, double[] wanted) {
    double off = 0;
    double length = 0;
    for (int i = 0; i < wanted.length; i++) {
      off += (found[i] - wanted[i]) * (found[i] - wanted[i]);
      length += wanted[i] * wanted[i];
    }
    return Math.sqrt(off / length);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "patternkv:2,rope=static,sinks=16 | 64",
        "patternkv:2,rope=static,group=32 | 128",
        "patternkv:4,rope=static,sinks=70,group=64 | 64",
        "patternkv:4,rope=static,v-threshold=off,patterns=40 | 128",
        "patternkv:2,rope=static,new-patterns=off,sinks=5 | 64"
      })
  void pagesAndAttentionMatchTheHost(String spec, int headDim) {
    try (CachePair pair = new CachePair(spec, new AttentionShape(8, 2, headDim))) {
      pair.append(50);
      pair.checkAttention();
      pair.append(300, 100);
      pair.check();
      pair.checkAttention();
      pair.append(256, 1, 300);
      pair.check();
      pair.checkAttention();
    }
  }

  /** The first quantization may have many blocks, and banks may have several pages. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 6})
  void longTextsAndAnyQueryHeadsMatchTheHost(int sharing) {
    AttentionShape shape = new AttentionShape(2 * sharing, 2, 64);
    try (CachePair pair = new CachePair("patternkv:2,rope=static,sinks=16", shape)) {
      pair.append(700);
      for (int i = 0; i < 10; i++) {
        pair.append(400);
      }
      assertThat(pair.home.tableEntries(pair.ours)).hasSize(2);
      pair.check();
      pair.checkAttention();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2,rope=static,sinks=16", "patternkv:4,rope=static"})
  void forksAndTruncationMatchTheHost(String spec) {
    try (CachePair parent = new CachePair(spec, new AttentionShape(4, 2, 64))) {
      parent.append(300, 300);
      try (CachePair fork = parent.fork()) {
        parent.append(256);
        fork.append(130, 130);
        parent.check();
        fork.check();
        fork.checkAttention();
      }
      int end = parent.sinks + 3 * BLOCK; // a block boundary: nothing is dequantized
      parent.ours.truncate(end);
      parent.host.truncate(end);
      parent.checkAttention();
    }
  }

  /** A partially dropped block becomes fp16, with the numbers that attention used. */
  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2,rope=static,sinks=16", "patternkv:4,rope=static"})
  void aTruncatedBlockIsFp16Again(String spec) {
    AttentionShape shape = new AttentionShape(4, 2, 128);
    try (CachePair pair = new CachePair(spec, shape)) {
      pair.append(300, 300);
      int end = pair.sinks + BLOCK + 70;
      float[][] wanted = new float[4][];
      for (int i = 0; i < 4; i++) {
        wanted[i] = pair.dequantized(1, i / 2, i % 2);
      }
      pair.ours.truncate(end);
      assertThat(pair.ours.length()).isEqualTo(end);
      Fp16Page layout = new Fp16Page(shape.headDim());
      for (int token = BLOCK; token < BLOCK + 70; token++) {
        long place = pair.home.slot(pair.ours, pair.sinks + token);
        for (int i = 0; i < 4; i++) {
          long at =
              (place & -TOKENS)
                  + pair.home.resources.offsets(1).fp16()
                  + (long) (i / 2) * layout.bytes();
          MemorySegment page = pair.home.read(at, layout.bytes());
          for (int c = 0; c < shape.headDim(); c++) {
            int within = (int) (place & TOKENS - 1);
            int offset = i % 2 == 0 ? layout.keyOffset(within, c) : layout.valueOffset(within, c);
            assertThat(page.get(JAVA_SHORT_UNALIGNED, offset))
                .isEqualTo(
                    Float.floatToFloat16(wanted[i][(pair.sinks + token) * shape.headDim() + c]));
          }
        }
      }
    }
  }
}
