package dev.kvasir.cuda.formats.mixkvq;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.uniform.UniformPage;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.engine.DeviceCache;
import dev.kvasir.cuda.engine.DeviceCacheFixture;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.ReferenceAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.HostCodes;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.HalfRounding;
import dev.kvasir.page.RowScaledCodes;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** MixKVQ on a device compared with the host codec bit by bit, and its attention. */
class MixkvqDeviceTest extends DeviceTestCase {
  private static final int LAYERS = 2;
  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int BLOCK = 128;
  private static final double MOST_ERROR = 3e-3;

  private final Random random = new Random(7);

  /** A device cache and a host cache, with everything that was appended to both. */
  private final class CachePair implements AutoCloseable {
    final DeviceCacheFixture home;
    final AttentionShape shape;
    final DeviceCacheConfig cacheConfig;
    final MixkvqPageReader reader;
    final DeviceCache ours;
    final KvCache host;
    final List<short[][][]> rows; // by step

    CachePair(String text, AttentionShape shape) {
      CacheSpec spec = CacheSpec.parse(text);
      this.cacheConfig = DeviceCacheConfig.of(spec);
      this.shape = shape;
      this.reader = new MixkvqPageReader(shape.headDim());
      this.home = new DeviceCacheFixture(device, cacheConfig, shape, LAYERS);
      this.ours = home.newCache();
      this.host =
          spec.newCache(
              new CacheShape(LAYERS, shape.kvHeads(), shape.headDim()),
              CacheContext.unknown().withQueryHeads(shape.queryHeads()));
      this.rows = new ArrayList<>();
    }

    private CachePair(CachePair parent) {
      this.home = parent.home;
      this.shape = parent.shape;
      this.cacheConfig = parent.cacheConfig;
      this.reader = parent.reader;
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

    /** Creates rows whose channels have different, varying ranges. */
    private short[][][] random(int count) {
      short[][][] step = new short[LAYERS][2][count * width()];
      double[] reach = reach();
      for (short[][] layer : step) {
        for (int i = 0; i < count * width(); i++) {
          layer[0][i] = half(reach[i % width()] * random.nextGaussian());
          layer[1][i] = half(random.nextGaussian());
        }
      }
      return step;
    }

    private double[] reach() {
      double[] reach = new double[width()];
      for (int i = 0; i < reach.length; i++) {
        reach[i] = 0.2 + random.nextDouble() * random.nextDouble();
      }
      return reach;
    }

    /** Lets the last token attend to everything on both sides and checks the outputs. */
    void attendAll(int times) {
      for (int i = 0; i < times; i++) {
        short[][] queries = new short[LAYERS][shape.queryHeads() * shape.headDim()];
        for (int layer = 0; layer < LAYERS; layer++) {
          for (int c = 0; c < queries[layer].length; c++) {
            queries[layer][c] = half((c % 3 == layer ? 0.3 : 1) * random.nextGaussian());
          }
          if (host.observer().observesQueries()) {
            host.observer()
                .observe(layer, host.length() - 1, DeviceCacheFixture.floats(queries[layer]), 0);
          }
        }
        float[][] found = home.attend(ours, queries);
        if (i == 0) {
          for (int layer = 0; layer < LAYERS; layer++) {
            check(found[layer], layer, queries[layer]);
          }
        }
      }
    }

    private void check(float[] found, int layer, short[] queries) {
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
      assertThat(error(found, wanted))
          .as("%d tokens, layer %d", ours.length(), layer)
          .isLessThan(MOST_ERROR);
    }

    /** Returns all appended rows that remain. // (length, kvHeads, headDim) */
    private float[] all(int layer, int side) {
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

    /** Returns the remaining rows of one head. // (length, headDim) */
    private float[] all(int layer, int head, int side) {
      int dim = shape.headDim();
      float[] all = all(layer, side);
      float[] out = new float[ours.length() * dim];
      for (int i = 0; i < out.length; i++) {
        out[i] = all[(i / dim * shape.kvHeads() + head) * dim + i % dim];
      }
      return out;
    }

    MemorySegment page(int layer, int page, int head) {
      long bytes = reader.layout().bytes();
      long at = home.packedPage(ours, page) + home.resources.offsets(layer).packed() + head * bytes;
      return home.read(at, bytes);
    }

    MemorySegment wider(MemorySegment page) {
      int bytes = reader.wideBytes(page);
      return bytes == 0 ? MemorySegment.NULL : home.read(reader.wideAddress(page), bytes);
    }

    /** Returns a head's keys or values as attention should see them. // (length, headDim) */
    float[] dequantized(int layer, int head, int side) {
      int dim = shape.headDim();
      float[] out = all(layer, head, side);
      for (int number = 0; number < home.packedPages(ours); number++) {
        MemorySegment page = page(layer, number, head);
        float[] part = side == 0 ? reader.keys(page, wider(page)) : values(page);
        System.arraycopy(part, 0, out, (cacheConfig.sinks() + number * TOKENS) * dim, part.length);
      }
      return out;
    }

    private float[] values(MemorySegment page) {
      MemorySegment codes = reader.withoutWideChannels(page);
      float[] values = new float[TOKENS * shape.headDim()];
      for (int i = 0; i < values.length; i++) {
        values[i] = reader.codes().value(codes, i / shape.headDim(), i % shape.headDim(), 1);
      }
      return values;
    }

    /** Compares all packed pages with the host's and returns the number of wide channels. */
    int check() {
      int blocks = home.packedPages(ours) / 2;
      int together = cacheConfig.format().blocksPerRun() * BLOCK;
      int wanted = (host.length() - cacheConfig.sinks() - cacheConfig.window()) / together;
      assertThat(blocks).isEqualTo(wanted * cacheConfig.format().blocksPerRun());
      int wider = 0;
      for (int layer = 0; layer < LAYERS; layer++) {
        for (int head = 0; head < shape.kvHeads(); head++) {
          for (int block = 0; block < blocks; block++) {
            wider += check(layer, head, block);
          }
        }
      }
      return wider;
    }

    private int check(int layer, int head, int block) {
      int dim = shape.headDim();
      int first = cacheConfig.sinks() + block * BLOCK;
      UniformPage hosts = (UniformPage) host.view(layer, host.blockOf(first)).page();
      int high = entries(hosts, head, 16);
      int mid = entries(hosts, head, 4);
      float[] keys = blockOf(all(layer, head, 0), first);
      float[] byChannel = transposed(keys);
      HostCodes fours = HostCodes.of(codes(dim, MixkvqPage.MID_BITS), byChannel);
      HostCodes twos = HostCodes.of(codes(dim, MixkvqPage.BITS), byChannel);
      for (int i = 0; i < 2; i++) {
        MemorySegment page = page(layer, 2 * block + i, head);
        MemorySegment wider = wider(page);
        assertThat(List.of(reader.bf16(page), reader.mid(page)))
            .as("tiers of block %d, layer %d, head %d", block, layer, head)
            .containsExactly(high, mid);
        for (int token = 0; token < TOKENS; token++) {
          int lane = i * TOKENS + token;
          for (int place = 0; place < high; place++) {
            int channel = hosts.channelAt(head, place);
            assertThat(reader.bf16Channel(page, place)).isEqualTo(channel);
            assertThat(MixkvqPageReader.bf16(wider, mid, token, place))
                .isEqualTo(HalfRounding.toBfloat16(keys[lane * dim + channel]));
          }
          for (int place = 0; place < mid; place++) {
            int channel = channelAt(hosts, head, high + place);
            assertThat(reader.midChannel(page, place)).isEqualTo(channel);
            assertThat(MixkvqPageReader.midCode(wider, token, place))
                .isEqualTo(fours.code(channel, lane));
            assertThat(MixkvqPageReader.midScale(wider, token, place))
                .isEqualTo(fours.scale(channel, lane));
            assertThat(MixkvqPageReader.midZero(wider, token, place))
                .isEqualTo(fours.zero(channel, lane));
          }
          for (int place = high + mid; place < dim; place++) {
            int channel = channelAt(hosts, head, place);
            twos.checkKey(reader.codes(), page, token, channel, lane);
          }
        }
      }
      float[] values = blockOf(all(layer, head, 1), first);
      List<MemorySegment> both =
          List.of(page(layer, 2 * block, head), page(layer, 2 * block + 1, head));
      HostCodes.check(
          reader.codes(), 1, cacheConfig.group(), values, both, reader::withoutWideChannels);
      return high + mid;
    }

    private RowScaledCodes codes(int dim, int bits) {
      return new RowScaledCodes(dim, BLOCK, bits, cacheConfig.group());
    }

    /** Without tiers there is no channel order. */
    private int channelAt(UniformPage page, int head, int place) {
      return page.shape(head).ordered() ? page.channelAt(head, place) : place;
    }

    private static int entries(UniformPage page, int head, int bits) {
      return page.shape(head).keys().stream()
          .filter(matrix -> matrix.bits() == bits)
          .mapToInt(CodeMatrix::rows)
          .sum();
    }

    private float[] blockOf(float[] all, int first) {
      float[] block = new float[BLOCK * shape.headDim()];
      System.arraycopy(all, first * shape.headDim(), block, 0, block.length);
      return block;
    }

    /** From (128, headDim) to (headDim, 128). */
    private float[] transposed(float[] block) {
      float[] transposed = new float[block.length];
      for (int i = 0; i < block.length; i++) {
        transposed[i % shape.headDim() * BLOCK + i / shape.headDim()] = block[i];
      }
      return transposed;
    }

    @Override
    public void close() {
      ours.close();
      host.close();
      assertThat(((WideChannels) home.resources.tableFactory()).extents().allocated())
          .as("extents that nobody holds")
          .isZero();
    }
  }

  private static short half(double x) {
    return Float.floatToFloat16((float) x);
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
        "mixkvq,high=0.8,mid=0.4 | 64",
        "mixkvq,high=0.8,mid=0.4,group=128,sinks=5 | 128",
        "mixkvq,high=0.9,mid=0.5,group=64,sinks=70,queries=sequence | 64",
        "mixkvq,high=1.2,mid=0.6,salience=error | 128",
        "mixkvq,high=0.8,mid=0.4,residual=384,sinks=0 | 64"
      })
  void pagesAndAttentionMatchTheHost(String spec, int headDim) {
    try (CachePair pair = new CachePair(spec, new AttentionShape(8, 2, headDim))) {
      pair.append(50);
      pair.attendAll(3);
      pair.append(300, 300);
      pair.check();
      pair.attendAll(2);
      pair.append(256, 1, 300);
      assertThat(pair.check()).isPositive();
      pair.attendAll(1);
    }
  }

  /** No wide channels, all bf16, all 4 bits, and queries that were never observed. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "mixkvq,high=1000,mid=1000",
        "mixkvq,high=0.000001,mid=0.000001",
        "mixkvq,high=1000,mid=0.000001",
        "mixkvq,high=0.5,mid=0.000001,salience=error"
      })
  void tiersMayHaveAnyNumberOfChannels(String spec) {
    for (int headDim : new int[] {64, 128}) {
      try (CachePair pair = new CachePair(spec, new AttentionShape(6, 2, headDim))) {
        pair.append(290);
        pair.check();
        pair.attendAll(1);
        pair.append(290);
        pair.check();
        pair.attendAll(1);
      }
    }
  }

  /** More heads than a block takes are split into several blocks. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 6})
  void longTextsAndAnyQueryHeadsMatchTheHost(int sharing) {
    AttentionShape shape = new AttentionShape(2 * sharing, 2, 64);
    try (CachePair pair = new CachePair("mixkvq,high=0.8,mid=0.4", shape)) {
      pair.append(2000);
      pair.attendAll(2);
      pair.append(300, 200);
      pair.check();
      pair.attendAll(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"mixkvq,high=0.8,mid=0.4,sinks=16", "mixkvq,high=0.8,mid=0.4,queries=sequence"})
  void forksAndTruncationMatchTheHost(String spec) {
    try (CachePair parent = new CachePair(spec, new AttentionShape(4, 2, 64))) {
      parent.append(200);
      parent.attendAll(2);
      parent.append(200, 200);
      CachePair fork = parent.fork();
      try {
        fork.attendAll(1);
        parent.append(256);
        fork.append(130, 130);
        parent.check();
        fork.check();
        fork.attendAll(1);
      } finally {
        fork.ours.close();
        fork.host.close();
      }
      int end = parent.cacheConfig.sinks() + 3 * BLOCK; // a block boundary: nothing is dequantized
      parent.ours.truncate(end);
      parent.host.truncate(end);
      assertThat(parent.home.packedPages(parent.ours)).isEqualTo(6);
      parent.attendAll(1);
    }
  }

  /** A partially dropped block becomes fp16, with the numbers that attention used. */
  @ParameterizedTest
  @ValueSource(ints = {64, 128})
  void aTruncatedBlockIsFp16Again(int headDim) {
    AttentionShape shape = new AttentionShape(4, 2, headDim);
    try (CachePair pair = new CachePair("mixkvq,high=0.8,mid=0.4,sinks=16", shape)) {
      pair.append(100);
      pair.attendAll(2);
      pair.append(300, 300);
      int sinks = pair.cacheConfig.sinks();
      int end = sinks + BLOCK + 70;
      float[][] wanted = new float[4][];
      for (int i = 0; i < 4; i++) {
        wanted[i] = pair.dequantized(1, i / 2, i % 2);
      }
      pair.ours.truncate(end);
      assertThat(pair.ours.length()).isEqualTo(end);
      Fp16Page halves = new Fp16Page(headDim);
      for (int token = BLOCK; token < BLOCK + 70; token++) {
        long place = pair.home.slot(pair.ours, sinks + token);
        int within = (int) (place & TOKENS - 1);
        for (int i = 0; i < 4; i++) {
          long at =
              (place & -TOKENS)
                  + pair.home.resources.offsets(1).fp16()
                  + (long) (i / 2) * halves.bytes();
          MemorySegment page = pair.home.read(at, halves.bytes());
          for (int c = 0; c < headDim; c++) {
            int offset = i % 2 == 0 ? halves.keyOffset(within, c) : halves.valueOffset(within, c);
            assertThat(page.get(JAVA_SHORT_UNALIGNED, offset))
                .isEqualTo(Float.floatToFloat16(wanted[i][(sinks + token) * headDim + c]));
          }
        }
      }
    }
  }
}
