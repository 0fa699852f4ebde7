package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.patternkv.PatternLabels;
import dev.kvasir.codec.patternkv.PatternkvConfig;
import dev.kvasir.codec.patternkv.PatternkvPage;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.engine.DeviceCache;
import dev.kvasir.cuda.engine.DeviceCacheFixture;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.ReferenceAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.HostCodes;
import dev.kvasir.cuda.memory.PackedPageReader;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PatternKV on a device compared with the host codec bit by bit, and its attention. */
class PatternkvDeviceTest extends DeviceTestCase {
  private static final int LAYERS = 2;
  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int BLOCK = 128;
  private static final int MAX_TOKENS = 8192;
  private static final double MOST_ERROR = 3e-3;

  private final Random random = new Random(7);

  /** A device cache and a host cache, with everything that was appended to both. */
  private final class CachePair implements AutoCloseable {
    final DeviceCacheFixture home;
    final AttentionShape shape;
    final int sinks;
    final int group;
    final int bits;
    final Optional<KeyRotation> rotation; // of key patterns
    final DeviceCache ours;
    final KvCache host;
    final List<short[][][]> rows; // by step

    CachePair(String text, AttentionShape shape) {
      this(text, shape, RopeLayout.INTERLEAVED);
    }

    CachePair(String text, AttentionShape shape, RopeLayout layout) {
      CacheSpec spec = CacheSpec.parse(text);
      Rotation rope = rope(layout, shape.headDim());
      DeviceCacheConfig cacheConfig = withRotation(DeviceCacheConfig.of(spec), rope);
      this.rotation = ((PatternkvFormat) cacheConfig.format()).rotation();
      this.shape = shape;
      this.sinks = cacheConfig.sinks();
      this.group = cacheConfig.group();
      this.bits = cacheConfig.format().bits();
      this.home = new DeviceCacheFixture(device, cacheConfig, shape, LAYERS);
      this.ours = home.newCache();
      this.host =
          spec.newCache(
              new CacheShape(LAYERS, shape.kvHeads(), shape.headDim()),
              CacheContext.unknown().withRotation(Optional.of(rope)));
      this.rows = new ArrayList<>();
    }

    private CachePair(CachePair parent) {
      this.home = parent.home;
      this.shape = parent.shape;
      this.sinks = parent.sinks;
      this.group = parent.group;
      this.bits = parent.bits;
      this.rotation = parent.rotation;
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
        Optional<PatternLabels> labels = side == 0 ? page.keys() : page.values();
        byte[] chosen = new byte[BLOCK];
        Arrays.fill(chosen, (byte) PatternPageReader.NONE);
        labels.ifPresent(some -> some.read(head, chosen));
        float[] patterns = labels.map(some -> expanded(some, layer, head)).orElse(new float[0]);
        checkPatterns(side, patterns, banks);
        float[] residuals = residuals(layer, head, block, side, chosen, patterns);
        for (int token = 0; token < BLOCK; token++) {
          assertThat(reader().label(ours.get(token / TOKENS), side, token % TOKENS))
              .as("label of token %d of block %d, side %d", token, block, side)
              .isEqualTo(Byte.toUnsignedInt(chosen[token]));
        }
        HostCodes.check(reader().codes(), side, group, residuals, ours, reader()::residuals);
      }
    }

    private float[] expanded(PatternLabels labels, int layer, int head) {
      float[] patterns = new float[labels.patterns().count() * shape.headDim()];
      labels.patterns().expand(new ScalarKernels(), layer, head, 0, patterns);
      return patterns;
    }

    private void checkPatterns(int side, float[] patterns, List<MemorySegment> banks) {
      for (int i = 0; i < patterns.length; i++) {
        int pattern = i / shape.headDim();
        assertThat(pattern(banks, side, pattern, i % shape.headDim()))
            .as("pattern %d of side %d", pattern, side)
            .isEqualTo(patterns[i]);
      }
    }

    private float pattern(List<MemorySegment> banks, int side, int pattern, int channel) {
      int place = places(side)[channel];
      return reader().pattern(banks.get(pattern / PatternPage.BANK_PATTERNS), side, pattern, place);
    }

    /** Returns the index of each channel in a stored pattern. */
    private int[] places(int side) {
      int dim = shape.headDim();
      return side == 0 && rotation.isPresent()
          ? rotation.get().places(dim)
          : IntStream.range(0, dim).toArray();
    }

    /**
     * Rotates the patterns of consecutive tokens to their positions.
     *
     * @param rows (128, headDim)
     */
    private void rotate(int side, int position, float[] rows) {
      if (side == 0 && rotation.isPresent()) {
        Rotation rope = rotation.get().rotation();
        rope.rotateConsecutive(rows, 0, shape.headDim(), BLOCK);
        rope.rotate(rows, 0, shape.headDim(), BLOCK, position);
      }
    }

    /** (128, headDim) */
    private float[] residuals(
        int layer, int head, int block, int side, byte[] chosen, float[] patterns) {
      int dim = shape.headDim();
      float[] all = all(layer, side);
      float[] rows = new float[BLOCK * dim];
      PatternLabels.gather(chosen, BLOCK, patterns, dim, rows);
      rotate(side, sinks + block * BLOCK, rows);
      float[] residuals = new float[BLOCK * dim];
      for (int i = 0; i < residuals.length; i++) {
        int token = sinks + block * BLOCK + i / dim;
        residuals[i] = all[(token * shape.kvHeads() + head) * dim + i % dim] - rows[i];
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
      List<MemorySegment> residuals = new ArrayList<>();
      for (int page = 0; page < home.packedPages(ours); page++) {
        residuals.add(reader().residuals(page(layer, page, head)));
      }
      for (int block = 0; block < home.packedPages(ours) / 2; block++) {
        float[] rows = new float[BLOCK * dim];
        for (int token = 0; token < BLOCK; token++) {
          MemorySegment bytes = page(layer, 2 * block + token / TOKENS, head);
          int label = reader().label(bytes, side, token % TOKENS);
          for (int c = 0; c < dim && label != PatternPageReader.NONE; c++) {
            rows[token * dim + c] = pattern(banks, side, label, c);
          }
        }
        rotate(side, sinks + block * BLOCK, rows);
        for (int i = 0; i < rows.length; i++) {
          int token = i / dim;
          MemorySegment codes = residuals.get(2 * block + token / TOKENS);
          PackedPageReader packed = reader().codes();
          float residual =
              side == 0
                  ? packed.key(codes, token % TOKENS, i % dim, 1)
                  : packed.value(codes, token % TOKENS, i % dim, 1);
          out[(sinks + block * BLOCK) * dim + i] = residual + rows[i];
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

  private static Rotation rope(RopeLayout layout, int headDim) {
    float[] frequencies = new float[headDim / 2];
    for (int pair = 0; pair < frequencies.length; pair++) {
      frequencies[pair] = (float) Math.pow(10_000, -(double) pair / frequencies.length);
    }
    return new Rope(layout, frequencies);
  }

  private static DeviceCacheConfig withRotation(DeviceCacheConfig known, Rotation rope) {
    PatternkvFormat format = (PatternkvFormat) known.format();
    return new DeviceCacheConfig(
        format.withRotation(rope, known.sinks(), MAX_TOKENS),
        known.group(),
        known.window(),
        known.sinks());
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
        "patternkv:2,rope=static,new-patterns=off,sinks=5 | 64",
        "patternkv:2,sinks=16 | 64",
        "patternkv:2 | 128",
        "patternkv:4,group=32,sinks=5 | 128",
        "patternkv:4,patterns=70 | 64",
        "patternkv:2,choice=peaks | 64",
        "patternkv:2,rope=static,choice=distance | 128",
        "patternkv:2,v-patterns=off,sinks=16 | 128",
        "patternkv:2,rope=static,v-patterns=off | 64",
        "patternkv:4,k-patterns=off | 64",
        "patternkv:2,k-patterns=off,v-patterns=off,sinks=16 | 64"
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
  @CsvSource({"1, ROTATE", "1, STATIC", "3, STATIC", "6, STATIC", "6, ROTATE"})
  void longTextsAndAnyQueryHeadsMatchTheHost(int sharing, PatternkvConfig.Rope rope) {
    AttentionShape shape = new AttentionShape(2 * sharing, 2, 64);
    String spec = "patternkv:2,sinks=16,rope=" + rope.name().toLowerCase(Locale.ROOT);
    try (CachePair pair = new CachePair(spec, shape)) {
      pair.append(700);
      for (int i = 0; i < 10; i++) {
        pair.append(400);
      }
      assertThat(pair.home.tableEntries(pair.ours)).hasSize(2);
      pair.check();
      pair.checkAttention();
    }
  }

  /** More than 4096 vectors are sampled; the two channels of a pair need not be adjacent. */
  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2,sinks=16", "patternkv:2,rope=static,patterns=33"})
  void patternsOfALongPromptMatchTheHost(String spec) {
    AttentionShape shape = new AttentionShape(2, 1, 128);
    try (CachePair pair = new CachePair(spec, shape, RopeLayout.HALVES)) {
      pair.append(4700);
      pair.check();
      pair.checkAttention();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"patternkv:2,rope=static,sinks=16", "patternkv:4,rope=static", "patternkv:2"})
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
  @ValueSource(
      strings = {"patternkv:2,rope=static,sinks=16", "patternkv:4,rope=static", "patternkv:2"})
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
