package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.contract.RowCodesContract;
import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.InterleavedBytes;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mistake in Java must not become an out-of-bounds read or write. */
class NativeRowCodesTest extends RowCodesContract {
  private static final int WIDTH = 32;
  private static final int ROWS = 3;

  private final RowCodeKernels kernels = new NativeKernels().rowCodes();
  private final CodeBands bands = CodeBands.of(List.of(codes()), ROWS);
  private final NibbleRows table = table(WIDTH);
  private final int size = (int) bands.bytes() + RowCodeLayout.OVERREAD_BYTES;
  private final byte[] order = {2, 0, 1};
  private final int[] rowIndices = new int[ROWS];
  private final float[] out = new float[ROWS * WIDTH];
  private final RowCodeBlock block = new RowCodeBlock();

  NativeRowCodesTest() {
    super(new NativeKernels());
  }

  private static RowCodeLayout codes() {
    int[] bits = new int[WIDTH];
    Arrays.fill(bits, 3);
    return new RowCodeLayout(bits, new float[WIDTH]);
  }

  private static NibbleRows table(int width) {
    MemorySegment data = MemorySegment.ofArray(new byte[4 * width / 2]);
    return new NibbleRows(data, width / 2, width, new float[width], new float[width]);
  }

  private void assertRefused(int bytes, int offset, byte[] tokens, float[] to) {
    MemorySegment rows = MemorySegment.ofArray(new byte[bytes]);
    block.set(rows, offset, bands, table, table.lows(), tokens, rowIndices);
    assertThatThrownBy(() -> kernels.decode(block, to))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void rowsThatAreNotAllThereAreRefused() {
    assertRefused(size - 1, 0, order, out);
    assertRefused(size, 1, order, out);
    assertRefused(size, -1, order, out);
    assertRefused(size, 0, new byte[ROWS - 1], out);
    assertRefused(size, 0, order, new float[ROWS * WIDTH - 1]);
  }

  @ParameterizedTest
  @ValueSource(bytes = {3, -1, Byte.MIN_VALUE, Byte.MAX_VALUE})
  void aTokenThatIsNotThereIsRefused(byte token) {
    order[1] = token;
    assertRefused(size, 0, order, out);
    assertRefused(size, 0, order, new float[2 * Byte.MAX_VALUE * WIDTH]);
  }

  /** The maximum number of rows is checked by different code than few rows. */
  @ParameterizedTest
  @ValueSource(ints = {0, 7, 8, 127})
  void aNegativeTokenOfAWholePageIsRefused(int row) {
    CodeBands page = CodeBands.of(List.of(codes()), CodeBands.MAX_ROWS);
    MemorySegment rows =
        MemorySegment.ofArray(new byte[(int) page.bytes() + RowCodeLayout.OVERREAD_BYTES]);
    int[] indices = new int[CodeBands.MAX_ROWS];
    float[] to = new float[2 * CodeBands.MAX_ROWS * WIDTH];
    byte[] tokens = new byte[CodeBands.MAX_ROWS];
    block.set(rows, 0, page, table, table.lows(), tokens, indices);
    kernels.decode(block, to);
    tokens[row] = -1;
    assertThatThrownBy(() -> kernels.decode(block, to))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aRowOfTheTableThatIsNotThereIsRefused(int row) {
    rowIndices[2] = row;
    assertRefused(size, 0, order, out);
  }

  @Test
  void aTableOfAnotherWidthIsRefused() {
    MemorySegment rows = MemorySegment.ofArray(new byte[size]);
    block.set(rows, 0, bands, table(64), new float[64], order, rowIndices);
    assertThatThrownBy(() -> kernels.decode(block, out))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a table of 64 channels under codes of 32; expected as many");
  }

  @Test
  void whatIsTooShortForProductsOrSumsIsRefused() {
    int scratch = RowCodeKernels.scratchFloats(ROWS, WIDTH);
    assertProductsRefused(ROWS * WIDTH / 2 - 1, 2 * WIDTH, 2, scratch, 2 * ROWS);
    assertProductsRefused(ROWS * WIDTH / 2, 2 * WIDTH - 1, 2, scratch, 2 * ROWS);
    assertProductsRefused(ROWS * WIDTH / 2, 9 * WIDTH, 9, scratch, 9 * ROWS);
    assertProductsRefused(ROWS * WIDTH / 2, 2 * WIDTH, 2, scratch - 1, 2 * ROWS);
    assertProductsRefused(ROWS * WIDTH / 2, 2 * WIDTH, 2, scratch, 2 * ROWS - 1);
    int rows = InterleavedBytes.ROWS;
    int scratchOfSums = RowCodeKernels.scratchFloats(rows, WIDTH);
    assertSumsRefused(2 * rows - 1, 2, scratchOfSums, 2 * WIDTH);
    assertSumsRefused(9 * rows, 9, scratchOfSums, 9 * WIDTH);
    assertSumsRefused(2 * rows, 2, scratchOfSums - 1, 2 * WIDTH);
    assertSumsRefused(2 * rows, 2, scratchOfSums, 2 * WIDTH - 1);
  }

  private void assertProductsRefused(int angles, int queries, int rows, int scratch, int products) {
    MemorySegment source = MemorySegment.ofArray(new byte[size]);
    block.set(source, 0, bands, table, table.lows(), order, rowIndices);
    assertThatThrownBy(
            () ->
                kernels.products(
                    block,
                    new float[angles],
                    new float[angles],
                    new float[queries],
                    rows,
                    new float[scratch],
                    new float[products]))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  private void assertSumsRefused(int weights, int rows, int scratch, int sums) {
    CodeBands columns = CodeBands.of(List.of(codes()), InterleavedBytes.ROWS);
    MemorySegment source =
        MemorySegment.ofArray(new byte[(int) columns.bytes() + RowCodeLayout.OVERREAD_BYTES]);
    byte[] tokens = new byte[InterleavedBytes.ROWS];
    int[] indices = new int[InterleavedBytes.ROWS];
    block.set(source, 0, columns, table, table.lows(), tokens, indices);
    assertThatThrownBy(
            () ->
                kernels.weightedSums(
                    block, new float[weights], rows, new float[scratch], new float[sums]))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void sumsOfRowsThatFillNoColumnsAreRefused() {
    MemorySegment source = MemorySegment.ofArray(new byte[size]);
    float[] scratch = new float[RowCodeKernels.scratchFloats(ROWS, WIDTH)];
    float[] w = new float[ROWS];
    block.set(source, 0, bands, table, table.lows(), order, rowIndices);
    assertThatThrownBy(() -> kernels.weightedSums(block, w, 1, scratch, new float[WIDTH]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a band has 3 rows; expected a multiple of 16");
  }

  @ParameterizedTest
  @ValueSource(ints = {4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aRowOfHalvesThatIsNotThereIsRefused(int row) {
    MemorySegment halves = MemorySegment.ofArray(new byte[2 * 4 * WIDTH]);
    rowIndices[1] = row;
    assertThatThrownBy(() -> kernels.gather(halves, 0, WIDTH, rowIndices, ROWS, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void rowsOfHalvesThatAreNotAllThereAreRefused() {
    rowIndices[1] = 3;
    for (long bytes : new long[] {2 * 4 * WIDTH - 1, 2}) {
      MemorySegment halves = MemorySegment.ofArray(new byte[(int) bytes]);
      assertThatThrownBy(() -> kernels.gather(halves, 0, WIDTH, rowIndices, ROWS, WIDTH, out))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    MemorySegment halves = MemorySegment.ofArray(new byte[2 * 4 * WIDTH]);
    assertThatThrownBy(() -> kernels.gather(halves, 2, WIDTH, rowIndices, ROWS, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.gather(halves, 0, -WIDTH, rowIndices, ROWS, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.gather(halves, 0, WIDTH, rowIndices, ROWS + 1, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void classesAndIdsThatAreNotAllThereAreRefused() {
    int tokens = CodeBands.MAX_ROWS;
    assertOrderRefused(24, 1, 4 * tokens, tokens, tokens);
    assertOrderRefused(23, 0, 4 * tokens, tokens, tokens);
    assertOrderRefused(24, 0, 4 * tokens - 1, tokens, tokens);
    assertOrderRefused(24, 0, 4 * tokens, tokens - 1, tokens);
    assertOrderRefused(24, 0, 4 * tokens, tokens, tokens - 1);
  }

  private void assertOrderRefused(int classes, int at, int ids, int tokens, int tableRows) {
    assertThatThrownBy(
            () ->
                kernels.orderRows(
                    MemorySegment.ofArray(new byte[classes]),
                    at,
                    MemorySegment.ofArray(new byte[ids]),
                    new int[1],
                    new byte[tokens],
                    new int[tableRows]))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void anglesThatAreNotAllThereAreRefused() {
    float[] angles = new float[ROWS * WIDTH / 2];
    float[] fewer = new float[angles.length - 1];
    assertThatThrownBy(() -> kernels.rotateEach(out, ROWS, WIDTH / 2, fewer, angles))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.rotateEach(out, ROWS, WIDTH / 2, angles, fewer))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.rotateEach(fewer, ROWS, WIDTH / 2, angles, angles))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
