package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;

/**
 * Attention on the packed bits of a page, for query rows that share its KV head: those of a prompt
 * go in groups of as many as a generated token has.
 */
public final class UniformReader implements PageReader {
  public static final PageReaders.Kind<UniformReader> KIND =
      new PageReaders.Kind<>(UniformReader::new);

  /** Query rows at the most. */
  public static final int ROWS_TOGETHER = PageReader.PROMPT_ROWS;

  private static final int TOKENS = Page.TOKENS;
  private static final int GROUP = PageReader.MOST_ROWS;

  private final int keyDim;
  private final int valueDim;
  private final PageRoom room;
  private final GridSums[] sums = new GridSums[ROWS_TOGETHER / GROUP]; // once there are such rows
  private float[] mixed = {}; // (GROUP, channels of a grid), where values are part of keys
  private final float[] ordered; // (GROUP, keyDim)
  private final int[] channels; // (keyDim), as they are ordered
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private UniformReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.room = readers.room();
    this.ordered = new float[GROUP * keyDim];
    this.channels = new int[keyDim];
  }

  @Override
  public void begin() {
    for (GridSums each : sums) {
      if (each != null) {
        each.begin();
      }
    }
  }

  /** Those of the group of rows that begins with {@code first}. */
  private GridSums sums(int first) {
    int group = first / GROUP;
    if (sums[group] == null) {
      sums[group] = new GridSums(room, GROUP, Math.max(keyDim, valueDim));
    }
    return sums[group];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    UniformPage coded = (UniformPage) page;
    Arrays.fill(scores, 0, rows * TOKENS, 0);
    for (int first = 0; first < rows; first += GROUP) {
      score(coded, kvHead, queries, first, Math.min(GROUP, rows - first), scores);
    }
  }

  private void score(
      UniformPage page, int kvHead, float[] queries, int first, int rows, float[] scores) {
    HeadShape shape = page.shape(kvHead);
    GridSums grids = sums(first);
    float[] x = queries;
    int at = first * keyDim;
    if (shape.ordered()) {
      grids.begin(); // each page has an order of its own
      order(page, kvHead, queries, at, rows);
      x = ordered;
      at = 0;
    }
    outputRows.set(scores, first * TOKENS, TOKENS, rows, TOKENS);
    long offset = page.keysOffset(kvHead);
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeGrid codes = shape.keys().get(i);
      inputRows.set(x, at, keyDim, rows, codes.entries());
      grids.add(codes, page.bytes(), offset, inputRows, page.isExact(), outputRows);
      at += codes.entries();
      offset += codes.bytes();
    }
  }

  private void order(UniformPage page, int kvHead, float[] queries, int queriesAt, int rows) {
    page.copyOrder(kvHead, channels);
    for (int row = 0; row < rows; row++) {
      int at = row * keyDim;
      for (int place = 0; place < keyDim; place++) {
        ordered[at + place] = queries[queriesAt + at + channels[place]];
      }
    }
  }

  @Override
  public void mix(Page page, int kvHead, float[] probabilities, int rows, float[] out) {
    UniformPage coded = (UniformPage) page;
    for (int first = 0; first < rows; first += GROUP) {
      int group = Math.min(GROUP, rows - first);
      if (coded.shape(kvHead).hasValuesInKeys()) {
        mixKeyChannels(coded, kvHead, probabilities, first, group, out);
      } else {
        mixValues(coded, kvHead, probabilities, first, group, out);
      }
    }
  }

  private void mixValues(
      UniformPage page, int kvHead, float[] probabilities, int first, int rows, float[] out) {
    CodeGrid codes = page.shape(kvHead).values();
    inputRows.set(probabilities, first * TOKENS, TOKENS, rows, TOKENS);
    outputRows.set(out, first * valueDim, valueDim, rows, valueDim);
    long offset = page.valuesOffset(kvHead);
    sums(first).add(codes, page.bytes(), offset, inputRows, page.isExact(), outputRows);
  }

  /**
   * Bits of keys lie token beside token, for sums over channels, and these run over tokens: grids
   * are expanded as they lie, and a channel's numbers multiplied with the weights of its tokens.
   */
  private void mixKeyChannels(
      UniformPage page, int kvHead, float[] weights, int first, int rows, float[] out) {
    HeadShape shape = page.shape(kvHead);
    if (shape.ordered()) {
      page.copyOrder(kvHead, channels);
    }
    if (mixed.length == 0) {
      mixed = new float[GROUP * keyDim];
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
              inputRows.set(weights, first * TOKENS, TOKENS, rows, TOKENS),
              vectorRows.set(numbers, entries, TOKENS),
              outputRows.set(mixed, rows, entries));
      for (int row = 0; row < rows; row++) {
        addChannels(shape.ordered(), place, row * entries, entries, out, (first + row) * valueDim);
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
