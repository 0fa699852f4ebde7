package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.commvq.KeyScoring;
import dev.kvasir.codec.commvq.ModelCodebooks;
import dev.kvasir.codec.commvq.ValueCoding;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.formats.KvAppendKernel;
import dev.kvasir.cuda.formats.PagedAttention;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One layer of random codebooks, and pages of random indices at their positions. */
final class CommvqBatch {
  private static final double MAX_ERROR = 3e-3;
  private static final int MAX_SEQUENCES = 5;
  private static final int MAX_POSITIONS = 1 << 17;
  private static final int TOKENS = Fp16Page.TOKENS;

  private final AttentionShape shape;
  private final DeviceFixture device;
  private final Random random = new Random(7);
  private final int sinks;
  private final ModelCodebooks books;
  private final CommvqFormat format;
  private final CodebookPage layout;
  private final PageTable table;
  private final KvAppendKernel store;
  private final List<float[][]> keys =
      new ArrayList<>(); // by sequence and KV head: (tokens, headDim)
  private final List<float[][]> values = new ArrayList<>();

  /**
   * @param valueHeads KV heads whose values share codes
   */
  static CommvqBatch ofStages(
      DeviceFixture device,
      int bits,
      KeyScoring scoring,
      AttentionShape shape,
      int valueHeads,
      int sinks,
      RopeLayout ropes) {
    ModelCodebooks books =
        TestCodebooks.of(1, shape.kvHeads(), shape.headDim(), valueHeads, bits, ropes);
    CommvqCodebooks model = new CommvqCodebooks(books, sinks, MAX_POSITIONS, 2);
    CommvqFormat format = new CommvqFormat(bits, ValueCoding.STAGES, scoring, model);
    return new CommvqBatch(device, format, books, shape, sinks);
  }

  static CommvqBatch ofNetwork(
      DeviceFixture device, int bits, AttentionShape shape, int sinks, RopeLayout ropes) {
    ModelCodebooks books =
        TestEncoders.codec(1, shape.kvHeads(), shape.headDim(), 64, bits, ropes)
            .codebooks()
            .orElseThrow();
    CommvqCodebooks model = new CommvqCodebooks(books, sinks, MAX_POSITIONS, 2);
    CommvqFormat format = new CommvqFormat(bits, ValueCoding.ENCODER, KeyScoring.SUMS, model);
    return new CommvqBatch(device, format, books, shape, sinks);
  }

  private CommvqBatch(
      DeviceFixture device,
      CommvqFormat format,
      ModelCodebooks books,
      AttentionShape shape,
      int sinks) {
    this.device = device;
    this.shape = shape;
    this.sinks = sinks;
    this.books = books;
    this.format = format;
    this.layout = format.page(shape.headDim());
    this.table = device.own(new PageTable(device.context, MAX_SEQUENCES, 4096));
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
        if (!format.hasNetwork()) {
          layout.putValueIndex(page, token, set, random.nextInt(64));
        }
      }
      for (int bit = 0; format.hasNetwork() && bit < format.bits() * shape.headDim(); bit++) {
        if (random.nextBoolean()) {
          layout.putBit(page, token, bit);
        }
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

  private double[] wanted(short[] queries) {
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

  /** Attends random queries and checks the error relative to double precision. */
  void check(double spread) {
    short[] queries = new short[keys.size() * shape.queryHeads() * shape.headDim()];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = half((float) (spread * random.nextGaussian()));
    }
    double[] wanted = wanted(queries);
    table.upload(device.stream);
    DeviceMemory from = device.upload(halves(device, queries));
    DeviceMemory to = device.memory(2L * queries.length);
    try (PagedAttention attention =
        new PagedAttention(device.module, device.stream, format, shape, keys.size())) {
      attention.plan(table);
      for (boolean early : List.of(false, true)) {
        to.fill(device.stream, (byte) 0xFF);
        attention.attend(device.stream, from.address(), to.address(), early);
        double error = error(device.download(to).toArray(JAVA_SHORT), wanted);
        System.out.printf(
            "%s, %d heads on %d, spread %.0f: error %.2e%n",
            attention.describePlan(), shape.queryHeads(), shape.kvHeads(), spread, error);
        assertThat(error).as(attention.describePlan()).isLessThan(MAX_ERROR);
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
}
