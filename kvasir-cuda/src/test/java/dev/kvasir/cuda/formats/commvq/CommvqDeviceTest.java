package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.CommvqCodec;
import dev.kvasir.codec.commvq.CommvqPage;
import dev.kvasir.codec.commvq.CommvqShape;
import dev.kvasir.codec.commvq.CompactLayerCodebooks;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.KvAppendKernel;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
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

  /** One layer of random codebooks, and pages of random indices at their positions. */
  private final class Batch {
    final int bits;
    final AttentionShape shape;
    final int sinks;
    final ModelCodebooks books;
    final CommvqFormat format;
    final CodebookPage layout;
    final PageTable table;
    final KvAppendKernel store;
    final List<float[][]> keys = new ArrayList<>(); // by sequence and KV head: (tokens, headDim)
    final List<float[][]> values = new ArrayList<>();

    Batch(int bits, AttentionShape shape, int sinks, RopeLayout ropes, int sequences) {
      this.bits = bits;
      this.shape = shape;
      this.sinks = sinks;
      this.books = TestCodebooks.of(1, shape.kvHeads(), shape.headDim(), bits, ropes);
      this.format =
          new CommvqFormat(bits, new CommvqCodebooks(books, sinks, 1 << 17, bits == 1 ? 4 : 2));
      this.layout = format.page(shape.headDim());
      this.table = device.own(new PageTable(device.context, sequences, 4096));
      this.store = new KvAppendKernel(device.module, shape);
    }

    /** Adds fp16 pages, packed pages from {@code firstPage} on, and fp16 pages. */
    void add(int firstPage, int packedPages, int recent) {
      int before = sinks;
      int count = before + packedPages * TOKENS + recent;
      float[][] key = new float[shape.kvHeads()][count * shape.headDim()];
      float[][] value = new float[shape.kvHeads()][count * shape.headDim()];
      table.addSequence();
      for (int page = 0; page < packedPages; page++) {
        int position = sinks + (firstPage + page) * TOKENS;
        MemorySegment bytes = device.host((long) shape.kvHeads() * layout.bytes());
        for (int head = 0; head < shape.kvHeads(); head++) {
          MemorySegment own = bytes.asSlice((long) head * layout.bytes(), layout.bytes());
          fill(own, position);
          expand(own, head, key[head], value[head], before + page * TOKENS);
        }
        table.addPacked(device.upload(bytes).address());
      }
      addFp16(key, value, 0, before);
      addFp16(key, value, before + packedPages * TOKENS, recent);
      keys.add(key);
      values.add(value);
    }

    private void fill(MemorySegment page, int position) {
      for (int token = 0; token < TOKENS; token++) {
        layout.putScales(
            page, token, half(3 + 6 * random.nextFloat()), half(1 + random.nextFloat()));
        for (int set = 0; set < layout.sets(); set++) {
          layout.putKeyIndex(page, token, set, random.nextInt(64));
          layout.putValueIndex(page, token, set, random.nextInt(64));
        }
      }
      layout.putPosition(page, position);
    }

    /** Dequantizes a page as the host does. */
    private void expand(MemorySegment page, int head, float[] key, float[] value, int at) {
      expandPage(books, shape, layout, page, head, key, value, at);
    }

    private void addFp16(float[][] key, float[][] value, int from, int tokens) {
      int dim = shape.headDim();
      int width = shape.kvHeads() * dim;
      for (int first = 0; first < tokens; first += TOKENS) {
        int count = Math.min(TOKENS, tokens - first);
        DeviceMemory page = device.memory((long) shape.kvHeads() * new Fp16Page(dim).bytes());
        page.fill(device.stream, (byte) 0xFF);
        short[] keyRows = new short[count * width];
        short[] valueRows = new short[count * width];
        MemorySegment places = device.host(8L * count);
        for (int token = 0; token < count; token++) {
          places.setAtIndex(JAVA_LONG, token, page.address() | token);
          for (int i = 0; i < width; i++) {
            short k = half((float) random.nextGaussian());
            short v = half((float) random.nextGaussian());
            keyRows[token * width + i] = k;
            valueRows[token * width + i] = v;
            key[i / dim][(from + first + token) * dim + i % dim] = Float.float16ToFloat(k);
            value[i / dim][(from + first + token) * dim + i % dim] = Float.float16ToFloat(v);
          }
        }
        store.append(
            device.stream,
            count,
            device.upload(places).address(),
            0,
            device.upload(halves(keyRows)).address(),
            device.upload(halves(valueRows)).address());
        table.addFp16(page.address(), count);
      }
    }

    double[] wanted(short[] queries) {
      double[] out = new double[queries.length];
      int dim = shape.headDim();
      for (int s = 0; s < keys.size(); s++) {
        for (int head = 0; head < shape.queryHeads(); head++) {
          int kvHead = head / shape.queriesPerKvHead();
          attend(
              queries,
              (s * shape.queryHeads() + head) * dim,
              keys.get(s)[kvHead],
              values.get(s)[kvHead],
              out);
        }
      }
      return out;
    }

    private void attend(short[] queries, int at, float[] key, float[] value, double[] out) {
      int dim = shape.headDim();
      int count = key.length / dim;
      double[] scores = new double[count];
      double most = Double.NEGATIVE_INFINITY;
      for (int t = 0; t < count; t++) {
        for (int c = 0; c < dim; c++) {
          scores[t] += (double) Float.float16ToFloat(queries[at + c]) * key[t * dim + c];
        }
        scores[t] /= Math.sqrt(dim);
        most = Math.max(most, scores[t]);
      }
      double all = 0;
      for (int t = 0; t < count; t++) {
        double weight = Math.exp(scores[t] - most);
        all += weight;
        for (int c = 0; c < dim; c++) {
          out[at + c] += weight * value[t * dim + c];
        }
      }
      for (int c = 0; c < dim; c++) {
        out[at + c] /= all;
      }
    }
  }

  /** Writes rotated keys and values of a page as floats. */
  private static void expandPage(
      ModelCodebooks books,
      AttentionShape shape,
      CodebookPage layout,
      MemorySegment page,
      int head,
      float[] key,
      float[] value,
      int at) {
    CompactLayerCodebooks layerCodebooks = books.rows().getFirst();
    int dim = shape.headDim();
    int pairs = layerCodebooks.keys().get(head).pairs();
    int[] order = books.rotation().pairOrder(dim);
    float[] row = new float[2 * pairs];
    float[] sum = new float[2 * pairs];
    for (int token = 0; token < TOKENS; token++) {
      Arrays.fill(sum, 0);
      double[] mixed = new double[dim];
      for (int set = 0; set < layout.sets(); set++) {
        layerCodebooks
            .keys()
            .get(head)
            .dequantize(64 * set + layout.keyIndex(page, token, set), row);
        for (int i = 0; i < row.length; i++) {
          sum[i] += row[i];
        }
        long from = (64L * set + layout.valueIndex(page, token, set)) * dim * Short.BYTES;
        for (int c = 0; c < dim; c++) {
          mixed[c] +=
              Float.float16ToFloat(
                  layerCodebooks
                      .values()
                      .get(head)
                      .data()
                      .get(JAVA_SHORT_UNALIGNED, from + (long) Short.BYTES * c));
        }
      }
      int to = (at + token) * dim;
      float[] mean = layerCodebooks.keys().get(head).mean();
      float scale = layout.keyScale(page, token);
      for (int pair = 0; pair < dim / 2; pair++) {
        key[to + order[pair]] = mean[pair] + scale * sum[pair];
        key[to + order[dim / 2 + pair]] = mean[pairs + pair] + scale * sum[pairs + pair];
      }
      books.rotation().rotate(key, to, dim, 1, layout.position(page) + token);
      for (int c = 0; c < dim; c++) {
        value[to + c] =
            layerCodebooks.valueMeans().get(head)[c]
                + (float) (layout.valueScale(page, token) * mixed[c]);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 64, 8, 2, 0",
    "2, 64, 8, 2, 16",
    "1, 128, 8, 2, 16",
    "2, 128, 8, 2, 0",
    "1, 128, 6, 2, 5",
    "1, 128, 10, 2, 0",
    "2, 64, 3, 3, 0",
    "1, 64, 18, 2, 16"
  })
  void attentionMatchesDoublePrecision(
      int bits, int headDim, int queryHeads, int kvHeads, int sinks) {
    AttentionShape shape = new AttentionShape(queryHeads, kvHeads, headDim);
    RopeLayout ropes = sinks == 0 ? RopeLayout.INTERLEAVED : RopeLayout.HALVES;
    Batch batch = new Batch(bits, shape, sinks, ropes, 5);
    batch.add(0, 40, 130);
    batch.add(0, 0, 7);
    batch.add(1500, 7, 33);
    batch.add(3, 1, 1);
    batch.add(0, 130, 64);
    checkError(batch, 1);
    checkError(batch, 3);
  }

  @ParameterizedTest
  @CsvSource({"1, 128", "2, 128", "1, 64"})
  void errorsStaySmallOverThirtyTwoThousandTokens(int bits, int headDim) {
    Batch batch = new Batch(bits, new AttentionShape(4, 1, headDim), 16, RopeLayout.HALVES, 1);
    batch.add(0, 510, 112);
    checkError(batch, 1);
  }

  private void checkError(Batch batch, double spread) {
    AttentionShape shape = batch.shape;
    short[] queries = new short[batch.keys.size() * shape.queryHeads() * shape.headDim()];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = half((float) (spread * random.nextGaussian()));
    }
    double[] wanted = batch.wanted(queries);
    batch.table.upload(device.stream);
    DeviceMemory from = device.upload(halves(queries));
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
    "1, 64, 4, 0",
    "2, 64, 2, 16",
    "1, 128, 4, 16",
    "2, 128, 2, 4000",
    "1, 64, 1, 16",
    "1, 128, 3, 0"
  })
  void quantizationMatchesTheHostBitByBit(int bits, int headDim, int beam, int position) {
    int kvHeads = 3;
    int layers = 2;
    AttentionShape shape = new AttentionShape(kvHeads, kvHeads, headDim);
    ModelCodebooks books = TestCodebooks.of(layers, kvHeads, headDim, bits, RopeLayout.HALVES);
    CommvqFormat format =
        new CommvqFormat(bits, new CommvqCodebooks(books, position % 64, 8192, beam));
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
        short key = half((float) (3 * random.nextGaussian()));
        short value = half((float) random.nextGaussian());
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
    CommvqShape pages = new CommvqShape(kvHeads, headDim, layout.stages());
    SharedArena memory = new SharedArena();
    try (WorkerPool workers = new WorkerPool(1)) {
      CommvqCodec codec =
          new CommvqCodec(pages, Optional.of(books), 0, beam, KeyScoring.SUMS, kernels, workers);
      for (int layer = 0; layer < layers; layer++) {
        CommvqPage wanted =
            (CommvqPage) codec.quantize(memory, layer, position, keys[layer], values[layer]);
        checkIndices(layout, kvHeads, wanted, found.asSlice(2 * layer * packedBytes));
        wanted.close();
      }
    } finally {
      memory.release();
    }
    checkDequantized(books, shape, layout, found, again);
  }

  private void checkIndices(
      CodebookPage layout, int kvHeads, CommvqPage wanted, MemorySegment found) {
    byte[] keys = new byte[layout.sets() * BLOCK];
    byte[] values = new byte[layout.sets() * BLOCK];
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
        for (int set = 0; set < layout.sets(); set++) {
          others += layout.keyIndex(page, place, set) == keys[set * BLOCK + token] ? 0 : 1;
          others += layout.valueIndex(page, place, set) == values[set * BLOCK + token] ? 0 : 1;
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
      MemorySegment own = packed.asSlice((long) head * layout.bytes(), layout.bytes());
      expandPage(books, shape, layout, own, head, key, value, 0);
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

  private MemorySegment halves(short[] values) {
    MemorySegment segment = device.host(2L * values.length);
    MemorySegment.copy(values, 0, segment, JAVA_SHORT, 0, values.length);
    return segment;
  }

  private static short half(float value) {
    return Float.floatToFloat16(value);
  }
}
