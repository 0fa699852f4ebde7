package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.attention.AttentionShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Sequences of random keys and values on a device, appended and packed there: sinks in a page of
 * halves, then packed pages, then tokens in halves. Memory is all NaN beforehand, and pages lie in
 * no order.
 */
final class DeviceBatch {
  /** Of one sequence. */
  record Tokens(int sinks, int packed, int recent) {
    static Tokens halves(int count) {
      return new Tokens(0, 0, count);
    }

    int count() {
      return sinks + packed + recent;
    }
  }

  private final DeviceFixture device;
  private final PageFormat format;
  private final AttentionShape shape;
  private final List<Tokens> sequences;
  private final Random random;
  final List<short[][]> rows =
      new ArrayList<>(); // by sequence: keys and values (tokens, kvHeads, headDim)
  final PageTable table;
  final KvAppendKernel store;
  private final DeviceMemory halfPages;
  private final DeviceMemory packedPages;
  private final long[][] halfPlaces; // by sequence, in order; of all tokens
  private final long[][] packedPlaces;
  private PageQuantizer quantizer; // once pages are packed
  private long packings; // on the device, once pages are packed
  private int packingCount;

  DeviceBatch(
      DeviceFixture device,
      PageFormat format,
      AttentionShape shape,
      List<Tokens> sequences,
      long seed) {
    this.device = device;
    this.format = format;
    this.shape = shape;
    this.sequences = sequences;
    this.random = new Random(seed);
    this.store = new KvAppendKernel(device.module, shape);
    int halves = sequences.stream().mapToInt(DeviceBatch::halfPageCount).sum();
    int packed = sequences.stream().mapToInt(each -> each.packed() / Fp16Page.TOKENS).sum();
    this.table = device.own(new PageTable(device.context, sequences.size(), Math.max(halves, 1)));
    this.halfPages = device.memory((long) halves * halfBytes());
    this.packedPages = device.memory(Math.max(1, packed) * packedBytes());
    halfPages.fill(device.stream, (byte) 0xFF);
    packedPages.fill(device.stream, (byte) 0xFF);
    this.halfPlaces =
        places(
            halfPages,
            halfBytes(),
            sequences.stream().mapToInt(DeviceBatch::halfPageCount).toArray());
    this.packedPlaces =
        places(
            packedPages,
            packedBytes(),
            sequences.stream().mapToInt(each -> each.packed() / Fp16Page.TOKENS).toArray());
    for (int s = 0; s < sequences.size(); s++) {
      append(s);
    }
    device.stream.synchronize();
  }

  private static int halfPageCount(Tokens tokens) {
    return pages(tokens.sinks()) + pages(tokens.packed()) + pages(tokens.recent());
  }

  private static int pages(int tokens) {
    return Math.ceilDiv(tokens, Fp16Page.TOKENS);
  }

  private long halfBytes() {
    return (long) shape.kvHeads() * new Fp16Page(shape.headDim()).bytes();
  }

  private long packedBytes() {
    return (long) shape.kvHeads() * format.pageBytes(shape.headDim());
  }

  private long[][] places(DeviceMemory memory, long pageBytes, int[] counts) {
    List<Long> all = new ArrayList<>();
    for (long at = 0; at + pageBytes <= memory.bytes(); at += pageBytes) {
      all.add(memory.address() + at);
    }
    Collections.shuffle(all, random);
    long[][] places = new long[counts.length][];
    int next = 0;
    for (int s = 0; s < counts.length; s++) {
      places[s] = new long[counts[s]];
      for (int i = 0; i < counts[s]; i++) {
        places[s][i] = all.get(next++);
      }
    }
    return places;
  }

  /** Random rows with channels of different spread, through the kernel. */
  private void append(int sequence) {
    int count = sequences.get(sequence).count();
    int width = shape.kvHeads() * shape.headDim();
    double[] spread = new double[width];
    for (int i = 0; i < width; i++) {
      spread[i] = Math.exp(0.5 * random.nextGaussian());
    }
    short[][] both = {new short[count * width], new short[count * width]};
    for (int i = 0; i < count * width; i++) {
      both[0][i] = Float.floatToFloat16((float) (spread[i % width] * random.nextGaussian()));
      both[1][i] = Float.floatToFloat16((float) (0.5 * random.nextGaussian()));
    }
    rows.add(both);
    MemorySegment places = device.host(8L * count);
    for (int token = 0; token < count; token++) {
      places.setAtIndex(JAVA_LONG, token, halfPlace(sequence, token));
    }
    store.append(
        device.stream,
        count,
        device.upload(places).address(),
        0,
        device.upload(halves(both[0])).address(),
        device.upload(halves(both[1])).address());
  }

  /** A token's page, of the first KV head, and in the lower bits its place there. */
  long halfPlace(int sequence, int token) {
    Tokens tokens = sequences.get(sequence);
    int page = token < tokens.sinks() ? 0 : pages(tokens.sinks());
    int within = token < tokens.sinks() ? token : token - tokens.sinks();
    return halfPlaces[sequence][page + within / Fp16Page.TOKENS] | within % Fp16Page.TOKENS;
  }

  MemorySegment halves(short[] values) {
    MemorySegment segment = device.host(2L * values.length);
    MemorySegment.copy(values, 0, segment, JAVA_SHORT, 0, values.length);
    return segment;
  }

  /** Packs what is to be packed, and makes the table. */
  DeviceBatch quantized(int keyGroup, int valueGroup) {
    List<Long> packings = new ArrayList<>();
    for (int s = 0; s < sequences.size(); s++) {
      Tokens tokens = sequences.get(s);
      table.addSequence();
      int first = pages(tokens.sinks());
      for (int page = 0; page < tokens.packed() / Fp16Page.TOKENS; page++) {
        packings.add(halfPlaces[s][first + page]);
        packings.add(packedPlaces[s][page]);
        table.addPacked(packedPlaces[s][page]);
      }
      addHalves(s, 0, tokens.sinks());
      addHalves(s, first + tokens.packed() / Fp16Page.TOKENS, tokens.recent());
    }
    if (!packings.isEmpty()) {
      MemorySegment list = device.host(8L * packings.size());
      for (int i = 0; i < packings.size(); i++) {
        list.setAtIndex(JAVA_LONG, i, packings.get(i));
      }
      this.packings = device.upload(list).address();
      this.packingCount = packings.size() / 2;
      quantizer = new KiviPageQuantizer(device.module, format, shape, keyGroup, valueGroup);
      quantizer.quantize(
          device.stream, packingCount, this.packings, 0, PageQuantizer.LayerStrides.ONE);
    }
    table.upload(device.stream);
    device.stream.synchronize();
    return this;
  }

  /** Makes halves of all packed pages again, where they were before. */
  void dequantize() {
    halfPages.fill(device.stream, (byte) 0xFF);
    quantizer.dequantize(device.stream, packingCount, packings, 0, PageQuantizer.LayerStrides.ONE);
    device.stream.synchronize();
  }

  private void addHalves(int sequence, int page, int tokens) {
    for (int left = tokens; left > 0; left -= Fp16Page.TOKENS) {
      table.addFp16(halfPlaces[sequence][page++], Math.min(left, Fp16Page.TOKENS));
    }
  }

  MemorySegment halfPages() {
    return device.download(halfPages);
  }

  /** The packed pages of a sequence, in order, each of all KV heads. */
  List<MemorySegment> packedPages(int sequence) {
    MemorySegment all = device.download(packedPages);
    List<MemorySegment> pages = new ArrayList<>();
    for (long place : packedPlaces[sequence]) {
      pages.add(all.asSlice(place - packedPages.address(), packedBytes()));
    }
    return pages;
  }

  long halfOffset(int sequence, int token) {
    return (halfPlace(sequence, token) & -Fp16Page.TOKENS) - halfPages.address();
  }

  List<Tokens> sequences() {
    return sequences;
  }

  AttentionShape shape() {
    return shape;
  }

  PageFormat format() {
    return format;
  }
}
