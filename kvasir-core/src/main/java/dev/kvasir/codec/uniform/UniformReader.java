package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;

/** Attention on the packed bits of a page, for a few query rows that share its KV head. */
public final class UniformReader implements PageReader {
  public static final PageReaders.Kind<UniformReader> KIND =
      new PageReaders.Kind<>(UniformReader::new);

  private static final int TOKENS = Page.TOKENS;

  private final int keyDim;
  private final int valueDim;
  private final PageRoom room;
  private final GridSums sums;
  private float[] mixed = {}; // (rows, channels of a grid), where values are part of keys
  private final float[] ordered; // (rows, keyDim)
  private final int[] channels; // (keyDim), as they are ordered

  private UniformReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.room = readers.room();
    this.sums = new GridSums(readers.room(), PageReader.MOST_ROWS, Math.max(keyDim, valueDim));
    this.ordered = new float[PageReader.MOST_ROWS * keyDim];
    this.channels = new int[keyDim];
  }

  @Override
  public void begin() {
    sums.begin();
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    UniformPage coded = (UniformPage) page;
    HeadShape shape = coded.shape(kvHead);
    if (shape.ordered()) {
      sums.begin(); // each page has an order of its own
    }
    float[] x = shape.ordered() ? order(coded, kvHead, queries, rows) : queries;
    Arrays.fill(scores, 0, rows * TOKENS, 0);
    long offset = coded.keysOffset(kvHead);
    int place = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeGrid codes = shape.keys().get(i);
      sums.add(
          codes, coded.bytes(), offset, x, place, keyDim, rows, coded.isExact(), scores, TOKENS);
      place += codes.entries();
      offset += codes.bytes();
    }
  }

  private float[] order(UniformPage page, int kvHead, float[] queries, int rows) {
    page.copyOrder(kvHead, channels);
    for (int row = 0; row < rows; row++) {
      int at = row * keyDim;
      for (int place = 0; place < keyDim; place++) {
        ordered[at + place] = queries[at + channels[place]];
      }
    }
    return ordered;
  }

  @Override
  public void mix(Page page, int kvHead, float[] probabilities, int rows, float[] out) {
    UniformPage coded = (UniformPage) page;
    if (coded.shape(kvHead).hasValuesInKeys()) {
      mixKeyChannels(coded, kvHead, probabilities, rows, out);
      return;
    }
    CodeGrid codes = coded.shape(kvHead).values();
    long offset = coded.valuesOffset(kvHead);
    sums.add(
        codes,
        coded.bytes(),
        offset,
        probabilities,
        0,
        TOKENS,
        rows,
        coded.isExact(),
        out,
        valueDim);
  }

  /**
   * Bits of keys lie token beside token, for sums over channels, and these run over tokens: grids
   * are expanded as they lie, and a channel's numbers multiplied with the weights of its tokens.
   */
  private void mixKeyChannels(
      UniformPage page, int kvHead, float[] weights, int rows, float[] out) {
    HeadShape shape = page.shape(kvHead);
    if (shape.ordered()) {
      page.copyOrder(kvHead, channels);
    }
    if (mixed.length == 0) {
      mixed = new float[PageReader.MOST_ROWS * keyDim];
    }
    long offset = page.keysOffset(kvHead);
    int place = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeGrid codes = shape.keys().get(i);
      int entries = codes.entries();
      float[] numbers = room.codes().grid(entries * TOKENS);
      codes.expand(room.codes(), page.bytes(), offset, numbers);
      room.kernels()
          .floats()
          .products(
              weights, 0, TOKENS, rows, numbers, 0, TOKENS, entries, TOKENS, mixed, 0, entries);
      for (int row = 0; row < rows; row++) {
        addChannels(shape.ordered(), place, row * entries, entries, out, row * valueDim);
      }
      place += entries;
      offset += codes.bytes();
    }
  }

  /** Adds those of a grid's channels that are values, wherever they lie. */
  private void addChannels(
      boolean ordered, int place, int from, int count, float[] out, int outAt) {
    if (!ordered) {
      int values = Math.clamp(valueDim - (long) place, 0, count);
      room.kernels().rows().add(out, outAt + place, mixed, from, values);
      return;
    }
    for (int i = 0; i < count; i++) {
      int channel = channels[place + i];
      if (channel < valueDim) {
        out[outAt + channel] += mixed[from + i];
      }
    }
  }
}
