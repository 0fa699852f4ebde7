package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.formats.ReferenceAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mead pages on a device, compared with those of the host and with double precision. */
@NeedsDevice
class MeadDeviceTest {
  private static final int LAYERS = 2;
  private static final int KV_HEADS = 2;
  private static final int BLOCKS = 3;
  private static final double MAX_ERROR = 1e-2;

  private final Random random = new Random(11);
  private final List<MeadBlocks.Block> blocks = new ArrayList<>();
  private final List<MemorySegment[]> wanted = new ArrayList<>();
  private DeviceFixture device;
  private MeadBlocks source;
  private MeadFormat format;
  private int headDim;

  @BeforeEach
  void open() {
    device = DeviceFixture.open();
  }

  @AfterEach
  void close() {
    if (format != null) {
      format.model().close();
    }
    if (device != null) {
      device.close();
    }
  }

  private void prepare(String spec, TableKind kind, int channels, int sinks) {
    headDim = channels;
    source = new MeadBlocks(spec, kind, LAYERS, KV_HEADS, channels, sinks);
    format = new MeadFormat(spec, source.model);
    for (int i = 0; i < BLOCKS; i++) {
      blocks.add(source.add());
      wanted.add(source.pages(blocks.get(i)));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'mead:1.5,first=coded', OFF, 64, 0",
    "'mead:4,first=coded,means=off', OFF, 128, 16",
    "'mead:2,first=coded', CENTROIDS, 128, 5",
    "mead:2, CENTROIDS, 64, 0",
    "mead:3, TOKENS, 128, 16",
    "mead:8, OFF, 64, 16"
  })
  void pagesAreThoseOfTheHost(String spec, TableKind kind, int channels, int sinks) {
    prepare(spec, kind, channels, sinks);
    long fp16Stride = (long) KV_HEADS * fp16Bytes();
    DeviceMemory fp16 = device.memory(2L * BLOCKS * LAYERS * fp16Stride);
    DeviceMemory packed = device.memory(2L * BLOCKS * format.spanBytes());
    packed.fill(device.stream, (byte) 0);
    MemorySegment halves = device.host(fp16.bytes());
    MemorySegment pairs = device.host(4L * BLOCKS * Long.BYTES);
    int longs = MeadSequenceTables.metadataLongs(source.model.parameters().needsTokenIds());
    MemorySegment metadata = device.host((long) BLOCKS * longs * Long.BYTES);
    for (int page = 0; page < 2 * BLOCKS; page++) {
      long at = page * LAYERS * fp16Stride;
      pairs.setAtIndex(JAVA_LONG, 2L * page, fp16.address() + at);
      pairs.setAtIndex(
          JAVA_LONG, 2L * page + 1, packed.address() + (long) page * format.spanBytes());
      putHalves(blocks.get(page / 2), page % 2, halves.asSlice(at, LAYERS * fp16Stride));
    }
    MeadSequenceTables tables = new MeadSequenceTables(source.model.parameters().needsTokenIds());
    for (MeadBlocks.Block block : blocks) {
      for (int token = 0; token < MeadBlocks.TOKENS; token++) {
        tables.observeToken(block.position() + token, block.ids()[token]);
      }
    }
    long[] all = tables.quantizationMetadata(sinks, new long[2 * BLOCKS]);
    MemorySegment.copy(all, 0, metadata, JAVA_LONG, 0, all.length);
    fp16.upload(device.stream, 0, halves, halves.byteSize());
    long list = device.upload(pairs).address();
    PageQuantizer.LayerStrides strides = new PageQuantizer.LayerStrides(LAYERS, fp16Stride, 0, 0);
    AttentionShape shape = new AttentionShape(KV_HEADS, KV_HEADS, headDim);
    try (PageQuantizer quantizer =
        format.newQuantizer(device.module, device.stream, DeviceCacheConfig.FP16, shape)) {
      quantizer.quantize(
          device.stream, 2 * BLOCKS, list, device.upload(metadata).address(), strides);
      MemorySegment found = device.download(packed);
      for (int page = 0; page < 2 * BLOCKS; page++) {
        MemorySegment own = found.asSlice((long) page * format.spanBytes(), format.spanBytes());
        assertThat(own.mismatch(wanted.get(page / 2)[page % 2])).as("page " + page).isEqualTo(-1);
      }
      fp16.fill(device.stream, (byte) 0xFF);
      quantizer.dequantize(device.stream, 2 * BLOCKS, list, 0, strides);
      checkHalves(device.download(fp16), fp16Stride);
    }
  }

  private int fp16Bytes() {
    return new Fp16Page(headDim).bytes();
  }

  private void putHalves(MeadBlocks.Block block, int page, MemorySegment to) {
    Fp16Page layout = new Fp16Page(headDim);
    for (int layer = 0; layer < LAYERS; layer++) {
      for (int head = 0; head < KV_HEADS; head++) {
        MemorySegment own = to.asSlice((long) (layer * KV_HEADS + head) * fp16Bytes(), fp16Bytes());
        for (int token = 0; token < Fp16Page.TOKENS; token++) {
          for (int c = 0; c < headDim; c++) {
            int from = (head * MeadBlocks.TOKENS + Fp16Page.TOKENS * page + token) * headDim + c;
            putHalf(own, layout.keyOffset(token, c), block.keys().get(layer)[from]);
            putHalf(own, layout.valueOffset(token, c), block.values().get(layer)[from]);
          }
        }
      }
    }
  }

  private static void putHalf(MemorySegment to, int at, float x) {
    to.set(JAVA_SHORT, at, Float.floatToFloat16(x));
  }

  private void checkHalves(MemorySegment found, long fp16Stride) {
    Fp16Page layout = new Fp16Page(headDim);
    for (int layer = 0; layer < LAYERS; layer++) {
      for (int head = 0; head < KV_HEADS; head++) {
        float[][] numbers = numbers(layer, head, BLOCKS);
        double worst = 0;
        for (int token = 0; token < BLOCKS * MeadBlocks.TOKENS; token++) {
          long page = (long) (token / Fp16Page.TOKENS * LAYERS + layer) * fp16Stride;
          long own = page + (long) head * fp16Bytes();
          int within = token % Fp16Page.TOKENS;
          for (int c = 0; c < headDim; c++) {
            int at = token * headDim + c;
            worst =
                Math.max(worst, error(found, own + layout.keyOffset(within, c), numbers[0][at]));
            worst =
                Math.max(worst, error(found, own + layout.valueOffset(within, c), numbers[1][at]));
          }
        }
        assertThat(worst).isLessThan(1e-3);
      }
    }
  }

  private static double error(MemorySegment found, long at, float wanted) {
    float half = Float.float16ToFloat(found.get(JAVA_SHORT, at));
    double difference = Math.abs(half - wanted) / (1 + Math.abs(wanted));
    return Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference;
  }

  /** Returns keys and values of the first blocks. // (tokens, headDim) */
  private float[][] numbers(int layer, int head, int count) {
    int each = MeadBlocks.TOKENS * headDim;
    float[] keys = new float[count * each];
    float[] values = new float[count * each];
    for (int i = 0; i < count; i++) {
      float[] key = new float[each];
      float[] value = new float[each];
      new PlainBlock(source.model, wanted.get(i)[0], wanted.get(i)[1])
          .read(layer, head, key, value);
      System.arraycopy(key, 0, keys, i * each, each);
      System.arraycopy(value, 0, values, i * each, each);
    }
    return new float[][] {keys, values};
  }

  @ParameterizedTest
  @CsvSource({
    "'mead:1.5,first=coded', OFF, 64, 8, 0",
    "'mead:1.5,first=coded', OFF, 128, 8, 16",
    "'mead:3,first=coded,means=off', OFF, 128, 6, 5",
    "'mead:2.5,first=coded', OFF, 64, 18, 16",
    "'mead:6,first=coded', OFF, 128, 2, 0",
    "mead:2, OFF, 64, 8, 16",
    "mead:2, TOKENS, 128, 8, 0",
    "'mead:2,first=coded', CENTROIDS, 64, 6, 5"
  })
  void attentionMatchesDoublePrecision(
      String spec, TableKind kind, int channels, int queryHeads, int sinks) {
    prepare(spec, kind, channels, sinks);
    AttentionShape shape = new AttentionShape(queryHeads, KV_HEADS, channels);
    long[][] places = new long[BLOCKS][2];
    for (int i = 0; i < BLOCKS; i++) {
      for (int page = 0; page < 2; page++) {
        places[i][page] = device.upload(wanted.get(i)[page]).address();
      }
    }
    int[] counts = {3, 0, 1, 2};
    int[] recents = {7, 40, 0, 64};
    PageTable table = device.own(new PageTable(device.context, counts.length, 64));
    List<MemorySegment> windows = new ArrayList<>();
    for (int s = 0; s < counts.length; s++) {
      table.addSequence();
      for (int i = 0; i < counts[s]; i++) {
        table.addPacked(places[i][0]);
        table.addPacked(places[i][1]);
      }
      MemorySegment window = window(recents[s]);
      windows.add(window);
      if (recents[s] > 0) {
        table.addFp16(device.upload(window).address(), recents[s]);
      }
    }
    table.upload(device.stream);
    short[] queries = new short[counts.length * queryHeads * channels];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = Float.floatToFloat16((float) random.nextGaussian());
    }
    MemorySegment host = device.host(2L * queries.length);
    MemorySegment.copy(queries, 0, host, JAVA_SHORT, 0, queries.length);
    long from = device.upload(host).address();
    DeviceMemory to = device.memory(2L * queries.length);
    try (PagedAttention attention =
        new PagedAttention(device.module, device.stream, format, shape, counts.length)) {
      attention.plan(table);
      for (int layer = 0; layer < LAYERS; layer++) {
        attention.selectLayer(
            new LayerOffsets(layer, 0, layer * (long) KV_HEADS * fp16Bytes(), 0, 0, 0, 0));
        for (boolean early : List.of(false, true)) {
          to.fill(device.stream, (byte) 0xFF);
          attention.attend(device.stream, from, to.address(), early);
          short[] found = device.download(to).toArray(JAVA_SHORT);
          double[] expected = expected(shape, layer, counts, recents, windows, queries);
          double error = error(found, expected);
          System.out.printf("%s, layer %d: error %.2e%n", attention.describePlan(), layer, error);
          assertThat(error).isLessThan(MAX_ERROR);
        }
      }
    }
  }

  /** Returns an fp16 page of all layers and heads with some tokens; the rest is NaN. */
  private MemorySegment window(int tokens) {
    MemorySegment page = device.host((long) LAYERS * KV_HEADS * fp16Bytes());
    page.fill((byte) 0xFF);
    Fp16Page layout = new Fp16Page(headDim);
    for (int head = 0; head < LAYERS * KV_HEADS; head++) {
      MemorySegment own = page.asSlice((long) head * fp16Bytes(), fp16Bytes());
      for (int token = 0; token < tokens; token++) {
        for (int c = 0; c < headDim; c++) {
          putHalf(own, layout.keyOffset(token, c), (float) random.nextGaussian());
          putHalf(own, layout.valueOffset(token, c), (float) random.nextGaussian());
        }
      }
    }
    return page;
  }

  private double[] expected(
      AttentionShape shape,
      int layer,
      int[] counts,
      int[] recents,
      List<MemorySegment> windows,
      short[] queries) {
    double[] out = new double[queries.length];
    Fp16Page layout = new Fp16Page(headDim);
    for (int s = 0; s < counts.length; s++) {
      for (int head = 0; head < shape.queryHeads(); head++) {
        int kvHead = head / shape.queriesPerKvHead();
        float[][] packed = numbers(layer, kvHead, counts[s]);
        int tokens = counts[s] * MeadBlocks.TOKENS;
        float[] keys = Arrays.copyOf(packed[0], (tokens + recents[s]) * headDim);
        float[] values = Arrays.copyOf(packed[1], keys.length);
        MemorySegment own =
            windows.get(s).asSlice((long) (layer * KV_HEADS + kvHead) * fp16Bytes(), fp16Bytes());
        for (int token = 0; token < recents[s]; token++) {
          for (int c = 0; c < headDim; c++) {
            int at = (tokens + token) * headDim + c;
            keys[at] = Float.float16ToFloat(own.get(JAVA_SHORT, layout.keyOffset(token, c)));
            values[at] = Float.float16ToFloat(own.get(JAVA_SHORT, layout.valueOffset(token, c)));
          }
        }
        ReferenceAttention.attend(
            headDim,
            queries,
            (s * shape.queryHeads() + head) * headDim,
            keys,
            values,
            tokens + recents[s],
            out);
      }
    }
    return out;
  }

  private static double error(short[] found, double[] wanted) {
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < wanted.length; i++) {
      double each = Float.float16ToFloat(found[i]) - wanted[i];
      difference += each * each;
      norm += wanted[i] * wanted[i];
    }
    double error = Math.sqrt(difference / norm);
    return Double.isNaN(error) ? Double.POSITIVE_INFINITY : error;
  }
}
