package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.formats.KvAppendKernel;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One layer of random codebooks, and pages of random indices at their positions. */
final class CommvqBatch {
  private static final int TOKENS = Fp16Page.TOKENS;

  final AttentionShape shape;
  private final DeviceFixture device;
  private final Random random;
  private final int sinks;
  private final ModelCodebooks books;
  final CommvqFormat format;
  private final CodebookPage layout;
  final PageTable table;
  private final KvAppendKernel store;
  final List<float[][]> keys = new ArrayList<>(); // by sequence and KV head: (tokens, headDim)
  final List<float[][]> values = new ArrayList<>();

  /**
   * @param valueHeads KV heads whose values share codes
   */
  CommvqBatch(
      DeviceFixture device,
      Random random,
      int bits,
      KeyScoring scoring,
      AttentionShape shape,
      int valueHeads,
      int sinks,
      RopeLayout ropes,
      int sequences) {
    this.device = device;
    this.random = random;
    this.shape = shape;
    this.sinks = sinks;
    this.books = TestCodebooks.of(1, shape.kvHeads(), shape.headDim(), valueHeads, bits, ropes);
    this.format =
        new CommvqFormat(
            bits, scoring, new CommvqCodebooks(books, sinks, 1 << 17, bits == 1 ? 4 : 2));
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
        fill(bytes.asSlice((long) head * layout.bytes(), layout.bytes()), position);
      }
      shareScales(bytes);
      for (int head = 0; head < shape.kvHeads(); head++) {
        new ExpandedPage(books, shape.headDim(), layout, bytes)
            .expand(head, key[head], value[head], before + page * TOKENS);
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
      layout.putScales(page, token, half(3 + 6 * random.nextFloat()), half(1 + random.nextFloat()));
      for (int set = 0; set < layout.sets(); set++) {
        layout.putKeyIndex(page, token, set, random.nextInt(64));
        layout.putValueIndex(page, token, set, random.nextInt(64));
      }
    }
    layout.putPosition(page, position);
  }

  /** Gives all heads the value scales of the first, as quantized pages have. */
  private void shareScales(MemorySegment pages) {
    MemorySegment first = pages.asSlice(0, layout.bytes());
    for (int head = 1; head < shape.kvHeads(); head++) {
      MemorySegment own = pages.asSlice((long) head * layout.bytes(), layout.bytes());
      for (int token = 0; token < TOKENS; token++) {
        layout.putScales(
            own, token, half(layout.keyScale(own, token)), half(layout.valueScale(first, token)));
      }
    }
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
          device.upload(halves(device, keyRows)).address(),
          device.upload(halves(device, valueRows)).address());
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

  static MemorySegment halves(DeviceFixture device, short[] values) {
    MemorySegment segment = device.host(2L * values.length);
    MemorySegment.copy(values, 0, segment, JAVA_SHORT, 0, values.length);
    return segment;
  }

  static short half(float value) {
    return Float.floatToFloat16(value);
  }
}
