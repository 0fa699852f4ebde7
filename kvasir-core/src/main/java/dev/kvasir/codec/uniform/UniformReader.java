package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;

/**
 * Attends to a page on its codes, for query rows that share a KV head. Rows of a prompt are
 * processed in groups of {@link PageReader#MAX_ROWS}.
 */
public final class UniformReader implements PageReader {
  public static final PageReaders.Kind<UniformReader> KIND =
      new PageReaders.Kind<>(UniformReader::new);

  /** Maximum query rows. */
  public static final int MAX_PREFILL_ROWS = PageReader.PREFILL_ROWS;

  private static final int TOKENS = Page.TOKENS;
  private static final int GROUP = PageReader.MAX_ROWS;

  private final int keyDim;
  private final int valueDim;
  private final PageWorkspace workspace;
  private final QuantizedMatmul[] matmuls =
      new QuantizedMatmul[MAX_PREFILL_ROWS / GROUP]; // null until there are such rows
  private float[] keySums = {}; // (GROUP, channels of a matrix), if values are part of keys
  private final float[] ordered; // (GROUP, keyDim)
  private final int[] channels; // (keyDim), in their stored order
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  private UniformReader(PageReaders readers) {
    this.keyDim = readers.keyDim();
    this.valueDim = readers.valueDim();
    this.workspace = readers.workspace();
    this.ordered = new float[GROUP * keyDim];
    this.channels = new int[keyDim];
  }

  @Override
  public void beginPass() {
    for (QuantizedMatmul each : matmuls) {
      if (each != null) {
        each.invalidateOperands();
      }
    }
  }

  /** Returns the one for the group of rows that starts with {@code first}. */
  private QuantizedMatmul matmuls(int first) {
    int group = first / GROUP;
    if (matmuls[group] == null) {
      matmuls[group] = new QuantizedMatmul(workspace, GROUP, Math.max(keyDim, valueDim));
    }
    return matmuls[group];
  }

  @Override
  public void score(Page page, int kvHead, float[] queries, int rows, float[] scores) {
    Arrays.fill(scores, 0, rows * TOKENS, 0);
    for (int first = 0; first < rows; first += GROUP) {
      int group = Math.min(GROUP, rows - first);
      if (page instanceof SlicedPage sliced) {
        for (int i = 0; i < sliced.slices().size(); i++) {
          int token = i * sliced.sliceTokens();
          score(sliced.slices().get(i), token, kvHead, queries, first, group, scores);
        }
      } else {
        score((UniformPage) page, 0, kvHead, queries, first, group, scores);
      }
    }
  }

  /** Adds the scores of a page, or of a slice that starts at a token of its page. */
  private void score(
      UniformPage page,
      int token,
      int kvHead,
      float[] queries,
      int first,
      int rows,
      float[] scores) {
    HeadShape shape = page.shape(kvHead);
    QuantizedMatmul matmul = matmuls(first);
    float[] x = queries;
    int at = first * keyDim;
    if (shape.ordered()) {
      matmul.invalidateOperands(); // each page has its own order
      order(page, kvHead, queries, at, rows);
      x = ordered;
      at = 0;
    }
    outputRows.set(scores, first * TOKENS + token, TOKENS, rows, shape.tokens());
    long offset = page.keysOffset(kvHead);
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeMatrix codes = shape.keys().get(i);
      inputRows.set(x, at, keyDim, rows, codes.rows());
      matmul.add(codes, page.bytes(), offset, inputRows, page.usesExactOperands(), outputRows);
      at += codes.rows();
      offset += codes.bytes();
    }
  }

  private void order(UniformPage page, int kvHead, float[] queries, int queriesAt, int rows) {
    page.copyOrder(kvHead, channels);
    for (int row = 0; row < rows; row++) {
      int at = row * keyDim;
      for (int index = 0; index < keyDim; index++) {
        ordered[at + index] = queries[queriesAt + at + channels[index]];
      }
    }
  }

  @Override
  public void accumulate(Page page, int kvHead, float[] probabilities, int rows, float[] out) {
    for (int first = 0; first < rows; first += GROUP) {
      int group = Math.min(GROUP, rows - first);
      if (page instanceof SlicedPage sliced) {
        for (int i = 0; i < sliced.slices().size(); i++) {
          int token = i * sliced.sliceTokens();
          accumulate(sliced.slices().get(i), token, kvHead, probabilities, first, group, out);
        }
      } else {
        accumulate((UniformPage) page, 0, kvHead, probabilities, first, group, out);
      }
    }
  }

  private void accumulate(
      UniformPage page,
      int token,
      int kvHead,
      float[] probabilities,
      int first,
      int rows,
      float[] out) {
    if (page.shape(kvHead).hasValuesInKeys()) {
      accumulateKeyChannels(page, token, kvHead, probabilities, first, rows, out);
    } else {
      accumulateValues(page, token, kvHead, probabilities, first, rows, out);
    }
  }

  private void accumulateValues(
      UniformPage page,
      int token,
      int kvHead,
      float[] probabilities,
      int first,
      int rows,
      float[] out) {
    CodeMatrix codes = page.shape(kvHead).values();
    inputRows.set(probabilities, first * TOKENS + token, TOKENS, rows, codes.rows());
    outputRows.set(out, first * valueDim, valueDim, rows, valueDim);
    long offset = page.valuesOffset(kvHead);
    matmuls(first)
        .add(codes, page.bytes(), offset, inputRows, page.usesExactOperands(), outputRows);
  }

  /**
   * Accumulates values that are part of keys. The bits of keys are laid out for sums over channels,
   * but these sums run over tokens. So matrices are dequantized in their layout, and each channel
   * is multiplied with the weights of its tokens.
   */
  private void accumulateKeyChannels(
      UniformPage page, int token, int kvHead, float[] weights, int first, int rows, float[] out) {
    HeadShape shape = page.shape(kvHead);
    int tokens = shape.tokens();
    if (shape.ordered()) {
      page.copyOrder(kvHead, channels);
    }
    if (keySums.length == 0) {
      keySums = new float[GROUP * keyDim];
    }
    long offset = page.keysOffset(kvHead);
    int index = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeMatrix codes = shape.keys().get(i);
      int matrixRows = codes.rows();
      float[] numbers = workspace.codes().values(matrixRows * tokens);
      codes.dequantize(workspace.codes(), page.bytes(), offset, numbers);
      workspace
          .kernels()
          .floats()
          .products(
              inputRows.set(weights, first * TOKENS + token, TOKENS, rows, tokens),
              vectorRows.set(numbers, matrixRows, tokens),
              outputRows.set(keySums, rows, matrixRows));
      for (int row = 0; row < rows; row++) {
        addChannels(
            shape.ordered(), index, row * matrixRows, matrixRows, out, (first + row) * valueDim);
      }
      index += matrixRows;
      offset += codes.bytes();
    }
  }

  /** Adds those channels of a matrix that are values. */
  private void addChannels(
      boolean ordered, int index, int from, int count, float[] out, int outAt) {
    if (!ordered) {
      int values = Math.clamp(valueDim - (long) index, 0, count);
      workspace.kernels().rows().add(out, outAt + index, keySums, from, values);
      return;
    }
    for (int i = 0; i < count; i++) {
      int channel = channels[index + i];
      if (channel < valueDim) {
        out[outAt + channel] += keySums[from + i];
      }
    }
  }
}
