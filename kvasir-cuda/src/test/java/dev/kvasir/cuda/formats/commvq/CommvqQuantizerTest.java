package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.codec.commvq.CommvqPage;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.codec.commvq.ValueCoding;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CommVQ pages that a device quantizes, compared with those of the host. */
@NeedsDevice
class CommvqQuantizerTest {
  private static final int TOKENS = Fp16Page.TOKENS;
  private static final int BLOCK = 2 * TOKENS;
  private static final int LAYERS = 2;
  private static final int KV_HEADS = 4;

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
    "1, 64, 4, 4, 0",
    "1, 64, 1, 4, 0",
    "2, 64, 2, 2, 16",
    "1, 128, 2, 4, 16",
    "2, 128, 1, 2, 4000",
    "2, 128, 4, 2, 16",
    "1, 64, 4, 1, 16",
    "1, 128, 2, 3, 0"
  })
  void searchedCodesAreThoseOfTheHost(
      int bits, int headDim, int valueHeads, int beam, int position) {
    ModelCodebooks books =
        TestCodebooks.of(LAYERS, KV_HEADS, headDim, valueHeads, bits, RopeLayout.HALVES);
    try (WorkerPool workers = new WorkerPool(1)) {
      CommvqCodec codec =
          new CommvqCodec(
              books.layers().getFirst().shape(),
              Optional.of(books),
              0,
              beam,
              KeyScoring.SUMS,
              kernels,
              workers);
      check(codec, bits, ValueCoding.STAGES, headDim, valueHeads, position);
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 64, 64, 0", "2, 64, 128, 16", "1, 128, 192, 4000", "2, 128, 64, 16"})
  void bitsOfANetworkAreThoseOfTheHost(int bits, int headDim, int hidden, int position) {
    CommvqCodec codec =
        TestEncoders.codec(LAYERS, KV_HEADS, headDim, hidden, bits, RopeLayout.HALVES);
    check(codec, bits, ValueCoding.ENCODER, headDim, KV_HEADS, position);
  }

  private void check(
      CommvqCodec codec, int bits, ValueCoding coding, int headDim, int valueHeads, int position) {
    ModelCodebooks books = codec.codebooks().orElseThrow();
    AttentionShape shape = new AttentionShape(KV_HEADS, KV_HEADS, headDim);
    CommvqFormat format =
        new CommvqFormat(
            bits,
            coding,
            KeyScoring.SUMS,
            new CommvqCodebooks(books, position % 64, 8192, codec.beam()));
    CodebookPage layout = format.page(headDim);
    Fp16Page halfPage = new Fp16Page(headDim);
    long halfBytes = (long) KV_HEADS * halfPage.bytes();
    long packedBytes = (long) KV_HEADS * layout.bytes();
    MemorySegment halves = device.host(2 * LAYERS * halfBytes);
    float[][] keys = new float[LAYERS][KV_HEADS * BLOCK * headDim];
    float[][] values = new float[LAYERS][KV_HEADS * BLOCK * headDim];
    for (int layer = 0; layer < LAYERS; layer++) {
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
    DeviceMemory packed = device.memory(2 * LAYERS * packedBytes);
    packed.fill(device.stream, (byte) 0xFF);
    MemorySegment list = device.host(5 * 8L);
    for (int page = 0; page < 2; page++) {
      list.setAtIndex(JAVA_LONG, 2L * page, halfPages.address() + page * halfBytes);
      list.setAtIndex(JAVA_LONG, 2L * page + 1, packed.address() + page * packedBytes);
    }
    list.setAtIndex(JAVA_LONG, 4, position);
    DeviceMemory pairs = device.upload(list);
    PageQuantizer.LayerStrides strides =
        new PageQuantizer.LayerStrides(LAYERS, 2 * halfBytes, 2 * packedBytes, 0);
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
    SharedArena memory = new SharedArena();
    try {
      for (int layer = 0; layer < LAYERS; layer++) {
        CommvqPage wanted =
            (CommvqPage) codec.quantize(memory, layer, position, keys[layer], values[layer]);
        checkCodes(format, headDim, valueHeads, wanted, found.asSlice(2 * layer * packedBytes));
        wanted.close();
      }
    } finally {
      memory.release();
    }
    checkDequantized(books, shape, layout, found, again);
  }

  private void checkCodes(
      CommvqFormat format, int headDim, int valueHeads, CommvqPage wanted, MemorySegment found) {
    CodebookPage layout = format.page(headDim);
    int valueCodes = format.hasNetwork() ? format.bits() * headDim : layout.sets(); // of a head
    byte[] keys = new byte[layout.sets() * BLOCK];
    byte[] values = new byte[valueHeads * valueCodes * BLOCK];
    float[] keyScales = new float[BLOCK];
    float[] valueScales = new float[BLOCK];
    wanted.readKeyScales(kernels, keyScales);
    wanted.readValueScales(kernels, valueScales);
    int others = 0;
    for (int head = 0; head < KV_HEADS; head++) {
      wanted.readKeys(kernels, head, keys);
      wanted.readValues(kernels, head, values);
      for (int token = 0; token < BLOCK; token++) {
        long at = (token / TOKENS * (long) KV_HEADS + head) * layout.bytes();
        MemorySegment page = found.asSlice(at, layout.bytes());
        int place = token % TOKENS;
        for (int set = 0; set < layout.sets(); set++) {
          others += layout.keyIndex(page, place, set) == keys[set * BLOCK + token] ? 0 : 1;
        }
        for (int code = 0; code < valueCodes; code++) {
          int own =
              format.hasNetwork()
                  ? layout.isSet(page, place, code) ? 1 : 0
                  : layout.valueIndex(page, place, code);
          int host = values[(head % valueHeads * valueCodes + code) * BLOCK + token];
          others += own == host ? 0 : 1;
        }
        others += layout.keyScale(page, place) == keyScales[token] ? 0 : 1;
        others += layout.valueScale(page, place) == valueScales[token] ? 0 : 1;
        assertThat(layout.position(page)).isEqualTo(wanted.position() + token / TOKENS * TOKENS);
      }
    }
    assertThat(others).as("codes and scales that are not the host's").isZero();
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
