package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.DeviceFixture;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.formats.kivi.CodeWidths;
import dev.kvasir.cuda.formats.kivi.KiviFormat;
import dev.kvasir.cuda.formats.kivi.KiviPageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PackedPageReader;
import dev.kvasir.cuda.memory.PageTable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Sequences of random keys and values on a device: sinks in an fp16 page, then packed pages, then
 * fp16 tokens. Memory is NaN beforehand, and pages are in random order.
 */
final class DeviceBatch {
  /** Token counts of one sequence. */
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
  private PageQuantizer quantizer; // set once pages are quantized
  private long pairs; // device address, set once pages are quantized
  private int pairCount;

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
    int halves = sequences.stream().mapToInt(DeviceBatch::fp16PageCount).sum();
    int packed = sequences.stream().mapToInt(each -> each.packed() / Fp16Page.TOKENS).sum();
    this.table = device.own(new PageTable(device.context, sequences.size(), Math.max(halves, 1)));
    this.halfPages = device.memory((long) halves * fp16Bytes());
    this.packedPages = device.memory(Math.max(1, packed) * packedBytes());
    halfPages.fill(device.stream, (byte) 0xFF);
    packedPages.fill(device.stream, (byte) 0xFF);
    this.halfPlaces =
        places(
            halfPages,
            fp16Bytes(),
            sequences.stream().mapToInt(DeviceBatch::fp16PageCount).toArray());
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

  private static int fp16PageCount(Tokens tokens) {
    return pages(tokens.sinks()) + pages(tokens.packed()) + pages(tokens.recent());
  }

  private static int pages(int tokens) {
    return Math.ceilDiv(tokens, Fp16Page.TOKENS);
  }

  private long fp16Bytes() {
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

  /** Appends random rows, with channels of different spread, through the kernel. */
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

  /** Returns the page address of the first KV head, with the token's index in the lower bits. */
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

  /** Quantizes the packed tokens and builds the page table. */
  DeviceBatch quantized(int keyGroup, int valueGroup) {
    List<Long> pairs = new ArrayList<>();
    for (int s = 0; s < sequences.size(); s++) {
      Tokens tokens = sequences.get(s);
      table.addSequence();
      int first = pages(tokens.sinks());
      for (int page = 0; page < tokens.packed() / Fp16Page.TOKENS; page++) {
        pairs.add(halfPlaces[s][first + page]);
        pairs.add(packedPlaces[s][page]);
        table.addPacked(packedPlaces[s][page]);
      }
      addFp16(s, 0, tokens.sinks());
      addFp16(s, first + tokens.packed() / Fp16Page.TOKENS, tokens.recent());
    }
    if (!pairs.isEmpty()) {
      MemorySegment list = device.host(8L * pairs.size());
      for (int i = 0; i < pairs.size(); i++) {
        list.setAtIndex(JAVA_LONG, i, pairs.get(i));
      }
      this.pairs = device.upload(list).address();
      this.pairCount = pairs.size() / 2;
      quantizer =
          new KiviPageQuantizer(device.module, (KiviFormat) format, shape, keyGroup, valueGroup);
      quantizer.quantize(device.stream, pairCount, this.pairs, 0, PageQuantizer.LayerStrides.ONE);
    }
    table.upload(device.stream);
    device.stream.synchronize();
    return this;
  }

  /** Dequantizes all packed pages to their original addresses. */
  void dequantize() {
    halfPages.fill(device.stream, (byte) 0xFF);
    quantizer.dequantize(device.stream, pairCount, pairs, 0, PageQuantizer.LayerStrides.ONE);
    device.stream.synchronize();
  }

  private void addFp16(int sequence, int page, int tokens) {
    for (int left = tokens; left > 0; left -= Fp16Page.TOKENS) {
      table.addFp16(halfPlaces[sequence][page++], Math.min(left, Fp16Page.TOKENS));
    }
  }

  /** Returns what reads its packed pages. */
  PackedPageReader reader() {
    CodeWidths widths = ((KiviFormat) format).layer(0);
    return new PackedPageReader(new PackedPage(widths.keys(), widths.values(), shape.headDim()));
  }

  MemorySegment halfPages() {
    return device.download(halfPages);
  }

  /** Returns the packed pages of a sequence, in order, each of all KV heads. */
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
