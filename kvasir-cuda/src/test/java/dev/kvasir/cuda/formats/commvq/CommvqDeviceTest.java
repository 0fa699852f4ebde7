package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.codec.commvq.CommvqPage;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CommVQ pages on a device: quantized like on the host, and attended. */
@NeedsDevice
class CommvqDeviceTest {
  private static final double MOST_ERROR = 3e-3;
  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int BLOCK = 2 * TOKENS;

  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private final Random random = new Random(7);
  private DeviceFixture device;

  @BeforeEach
  void open() {
    device = DeviceFixture.open();
  }

  @AfterEach
  void close() {
    if (device != null) {
      device.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64, 8, 2, 2, 0",
    "1, 64, 8, 2, 1, 0",
    "2, 64, 8, 2, 2, 16",
    "1, 128, 8, 2, 2, 16",
    "2, 128, 8, 2, 1, 0",
    "2, 128, 8, 2, 2, 0",
    "1, 128, 6, 2, 2, 5",
    "1, 128, 10, 2, 2, 0",
    "2, 64, 3, 3, 3, 0",
    "1, 64, 18, 2, 2, 16",
    "1, 64, 8, 4, 2, 16",
    "2, 64, 8, 4, 4, 0",
    "1, 128, 8, 4, 4, 0"
  })
  void attentionMatchesDoublePrecision(
      int bits, int headDim, int queryHeads, int kvHeads, int valueHeads, int sinks) {
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, headDim);
    checkAttention(bits, KeyScoring.SUMS, shape, valueHeads, sinks);
  }

  @ParameterizedTest
  @CsvSource({
    "TABLES, 1, 64, 8, 2, 2, 16",
    "TABLES, 2, 128, 6, 2, 1, 0",
    "TABLES, 1, 128, 10, 2, 2, 5",
    "DECODED, 1, 64, 8, 2, 2, 16",
    "DECODED, 2, 64, 3, 3, 1, 0",
    "DECODED, 1, 128, 10, 2, 2, 5",
    "DECODED, 2, 128, 8, 2, 2, 0"
  })
  void baselinesMatchDoublePrecision(
      KeyScoring scoring,
      int bits,
      int headDim,
      int queryHeads,
      int kvHeads,
      int valueHeads,
      int sinks) {
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, headDim);
    checkAttention(bits, scoring, shape, valueHeads, sinks);
  }

  private void checkAttention(
      int bits, KeyScoring scoring, AttentionShape shape, int valueHeads, int sinks) {
    RopeLayout ropes = sinks == 0 ? RopeLayout.INTERLEAVED : RopeLayout.HALVES;
    CommvqBatch batch =
        new CommvqBatch(device, random, bits, scoring, shape, valueHeads, sinks, ropes, 5);
    batch.add(0, 40, 130);
    batch.add(0, 0, 7);
    batch.add(1500, 7, 33);
    batch.add(3, 1, 1);
    batch.add(0, 130, 64);
    checkError(batch, 1);
    checkError(batch, 3);
  }

  /** The values of 1,024 channels have more sets than the warps of a block have bins for. */
  @ParameterizedTest
  @CsvSource({"1, 32", "2, 8"})
  void manySetsAreAddedInParts(int bits, int queryHeads) {
    AttentionShape shape = new AttentionShape(queryHeads, 8, 128);
    CommvqBatch batch =
        new CommvqBatch(device, random, bits, KeyScoring.SUMS, shape, 8, 0, RopeLayout.HALVES, 2);
    batch.add(0, 9, 33);
    batch.add(2, 2, 5);
    checkError(batch, 1);
  }

  @ParameterizedTest
  @CsvSource({"1, 128", "2, 128", "1, 64"})
  void errorsStaySmallOverThirtyTwoThousandTokens(int bits, int headDim) {
    AttentionShape shape = new AttentionShape(8, 2, headDim);
    CommvqBatch batch =
        new CommvqBatch(device, random, bits, KeyScoring.SUMS, shape, 2, 16, RopeLayout.HALVES, 1);
    batch.add(0, 510, 112);
    checkError(batch, 1);
  }

  private void checkError(CommvqBatch batch, double spread) {
    AttentionShape shape = batch.shape;
    short[] queries = new short[batch.keys.size() * shape.queryHeads() * shape.headDim()];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = CommvqBatch.half((float) (spread * random.nextGaussian()));
    }
    double[] wanted = batch.wanted(queries);
    batch.table.upload(device.stream);
    DeviceMemory from = device.upload(CommvqBatch.halves(device, queries));
    DeviceMemory to = device.memory(2L * queries.length);
    try (PagedAttention attention =
        new PagedAttention(device.module, device.stream, batch.format, shape, batch.keys.size())) {
      attention.plan(batch.table);
      for (boolean early : List.of(false, true)) {
        to.fill(device.stream, (byte) 0xFF);
        attention.attend(device.stream, from.address(), to.address(), early);
        double error = error(device.download(to).toArray(JAVA_SHORT), wanted);
        System.out.printf(
            "%s, %d heads on %d, spread %.0f: error %.2e%n",
            attention.describePlan(), shape.queryHeads(), shape.kvHeads(), spread, error);
        assertThat(error).as(attention.describePlan()).isLessThan(MOST_ERROR);
      }
    }
  }

  private static double error(short[] outputs, double[] wanted) {
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < wanted.length; i++) {
      double each = Float.float16ToFloat(outputs[i]) - wanted[i];
      difference += each * each;
      norm += wanted[i] * wanted[i];
    }
    return Math.sqrt(difference / norm);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64, 4, 4, 0",
    "1, 64, 1, 4, 0",
    "2, 64, 2, 2, 16",
    "1, 128, 2, 4, 16",
    "2, 128, 1, 2, 4000",
    "2, 128, 4, 2, 16",
    "1, 64, 4, 1, 16",
    "1, 128, 2, 3, 0"
  })
  void quantizationMatchesTheHostBitByBit(
      int bits, int headDim, int valueHeads, int beam, int position) {
    int kvHeads = 4;
    int layers = 2;
    AttentionShape shape = new AttentionShape(kvHeads, kvHeads, headDim);
    ModelCodebooks books =
        TestCodebooks.of(layers, kvHeads, headDim, valueHeads, bits, RopeLayout.HALVES);
    CommvqFormat format =
        new CommvqFormat(
            bits, KeyScoring.SUMS, new CommvqCodebooks(books, position % 64, 8192, beam));
    CodebookPage layout = format.page(headDim);
    Fp16Page halfPage = new Fp16Page(headDim);
    long halfBytes = (long) kvHeads * halfPage.bytes();
    long packedBytes = (long) kvHeads * layout.bytes();
    MemorySegment halves = device.host(2 * layers * halfBytes);
    float[][] keys = new float[layers][kvHeads * BLOCK * headDim];
    float[][] values = new float[layers][kvHeads * BLOCK * headDim];
    for (int layer = 0; layer < layers; layer++) {
      for (int i = 0; i < keys[layer].length; i++) {
        int head = i / headDim / BLOCK;
        int token = i / headDim % BLOCK;
        int channel = i % headDim;
        long page = (2L * layer + token / TOKENS) * halfBytes + (long) head * halfPage.bytes();
        short key = CommvqBatch.half((float) (3 * random.nextGaussian()));
        short value = CommvqBatch.half((float) random.nextGaussian());
        keys[layer][i] = Float.float16ToFloat(key);
        values[layer][i] = Float.float16ToFloat(value);
        halves.set(JAVA_SHORT, page + halfPage.keyOffset(token % TOKENS, channel), key);
        halves.set(JAVA_SHORT, page + halfPage.valueOffset(token % TOKENS, channel), value);
      }
    }
    DeviceMemory halfPages = device.upload(halves);
    DeviceMemory packed = device.memory(2 * layers * packedBytes);
    packed.fill(device.stream, (byte) 0xFF);
    MemorySegment list = device.host(5 * 8L);
    for (int page = 0; page < 2; page++) {
      list.setAtIndex(JAVA_LONG, 2L * page, halfPages.address() + page * halfBytes);
      list.setAtIndex(JAVA_LONG, 2L * page + 1, packed.address() + page * packedBytes);
    }
    list.setAtIndex(JAVA_LONG, 4, position);
    DeviceMemory pairs = device.upload(list);
    PageQuantizer.LayerStrides strides =
        new PageQuantizer.LayerStrides(layers, 2 * halfBytes, 2 * packedBytes, 0);
    MemorySegment found;
    MemorySegment again;
    try (PageQuantizer quantizer =
        format.newQuantizer(
            device.module, device.stream, new DeviceCacheConfig(format, 0, 0, 0), shape)) {
      quantizer.quantize(device.stream, 2, pairs.address(), pairs.address() + 32, strides);
      found = device.download(packed);
      halfPages.fill(device.stream, (byte) 0xFF);
      quantizer.dequantize(device.stream, 2, pairs.address(), pairs.address() + 32, strides);
      again = device.download(halfPages);
    } finally {
      format.codebooks().close();
    }
    CommvqShape pages = books.layers().getFirst().shape();
    SharedArena memory = new SharedArena();
    try (WorkerPool workers = new WorkerPool(1)) {
      CommvqCodec codec =
          new CommvqCodec(pages, Optional.of(books), 0, beam, KeyScoring.SUMS, kernels, workers);
      for (int layer = 0; layer < layers; layer++) {
        CommvqPage wanted =
            (CommvqPage) codec.quantize(memory, layer, position, keys[layer], values[layer]);
        checkIndices(layout, pages, wanted, found.asSlice(2 * layer * packedBytes));
        wanted.close();
      }
    } finally {
      memory.release();
    }
    checkDequantized(books, shape, layout, found, again);
  }

  private void checkIndices(
      CodebookPage layout, CommvqShape pages, CommvqPage wanted, MemorySegment found) {
    int kvHeads = pages.kvHeads();
    byte[] keys = new byte[layout.sets() * BLOCK];
    byte[] values = new byte[pages.valueHeads() * layout.sets() * BLOCK];
    float[] keyScales = new float[BLOCK];
    float[] valueScales = new float[BLOCK];
    wanted.readKeyScales(kernels, keyScales);
    wanted.readValueScales(kernels, valueScales);
    int others = 0;
    for (int head = 0; head < kvHeads; head++) {
      wanted.readKeys(kernels, head, keys);
      wanted.readValues(kernels, head, values);
      for (int token = 0; token < BLOCK; token++) {
        long at = (token / TOKENS * (long) kvHeads + head) * layout.bytes();
        MemorySegment page = found.asSlice(at, layout.bytes());
        int place = token % TOKENS;
        int firstSet = head % pages.valueHeads() * layout.sets();
        for (int set = 0; set < layout.sets(); set++) {
          others += layout.keyIndex(page, place, set) == keys[set * BLOCK + token] ? 0 : 1;
          byte value = values[(firstSet + set) * BLOCK + token];
          others += layout.valueIndex(page, place, set) == value ? 0 : 1;
        }
        others += layout.keyScale(page, place) == keyScales[token] ? 0 : 1;
        others += layout.valueScale(page, place) == valueScales[token] ? 0 : 1;
        assertThat(layout.position(page)).isEqualTo(wanted.position() + token / TOKENS * TOKENS);
      }
    }
    assertThat(others).as("indices and scales that are not the host's").isZero();
  }

  /** Compares dequantized fp16 pages of the first layer. */
  private static void checkDequantized(
      ModelCodebooks books,
      AttentionShape shape,
      CodebookPage layout,
      MemorySegment packed,
      MemorySegment halves) {
    int dim = shape.headDim();
    Fp16Page page = new Fp16Page(dim);
    for (int head = 0; head < shape.kvHeads(); head++) {
      float[] key = new float[TOKENS * dim];
      float[] value = new float[TOKENS * dim];
      new ExpandedPage(books, dim, layout, packed).expand(head, key, value, 0);
      long at = (long) head * page.bytes();
      for (int i = 0; i < TOKENS * dim; i++) {
        float k =
            Float.float16ToFloat(halves.get(JAVA_SHORT, at + page.keyOffset(i / dim, i % dim)));
        float v =
            Float.float16ToFloat(halves.get(JAVA_SHORT, at + page.valueOffset(i / dim, i % dim)));
        assertThat(k).isCloseTo(key[i], offset(0.01f));
        assertThat(v).isCloseTo(value[i], offset(0.005f));
      }
    }
  }
}
