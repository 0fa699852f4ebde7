package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.contract.RowCodesContract;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodes;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mistake in Java must not become a read or a write beyond what there is. */
class NativeRowCodesTest extends RowCodesContract {
  private static final int WIDTH = 32;
  private static final int ROWS = 3;

  private final RowCodeKernels kernels = new NativeKernels().rowCodes();
  private final RowCodes codes = codes();
  private final NibbleRows table = table(WIDTH);
  private final int size = ROWS * codes.rowBytes() + RowCodes.BYTES_BEHIND;
  private final byte[] order = {2, 0, 1};
  private final int[] picked = new int[ROWS];
  private final float[] out = new float[ROWS * WIDTH];

  NativeRowCodesTest() {
    super(new NativeKernels());
  }

  private static RowCodes codes() {
    int[] bits = new int[WIDTH];
    Arrays.fill(bits, 3);
    return new RowCodes(bits, new float[WIDTH]);
  }

  private static NibbleRows table(int width) {
    MemorySegment data = MemorySegment.ofArray(new byte[4 * width / 2]);
    return new NibbleRows(data, width, new float[width], new float[width]);
  }

  private void assertRefused(int bytes, int offset, int from, int count, float[] to) {
    MemorySegment rows = MemorySegment.ofArray(new byte[bytes]);
    assertThatThrownBy(
            () -> kernels.decode(rows, offset, codes, order, from, count, table, picked, to))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void rowsThatAreNotAllThereAreRefused() {
    assertRefused(size - 1, 0, 0, ROWS, out);
    assertRefused(size, 1, 0, ROWS, out);
    assertRefused(size, -1, 0, ROWS, out);
    assertRefused(size, 0, 1, ROWS, out);
    assertRefused(size, 0, -1, ROWS, out);
    assertRefused(size, 0, 0, ROWS, new float[ROWS * WIDTH - 1]);
  }

  @ParameterizedTest
  @ValueSource(bytes = {3, -1, Byte.MIN_VALUE, Byte.MAX_VALUE})
  void aTokenThatIsNotThereIsRefused(byte token) {
    order[1] = token;
    assertRefused(size, 0, 0, ROWS, out);
    assertRefused(size, 0, 0, ROWS, new float[2 * Byte.MAX_VALUE * WIDTH]);
  }

  @ParameterizedTest
  @ValueSource(ints = {4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aRowOfTheTableThatIsNotThereIsRefused(int row) {
    picked[2] = row;
    assertRefused(size, 0, 0, ROWS, out);
  }

  @Test
  void aTableOfAnotherWidthIsRefused() {
    MemorySegment rows = MemorySegment.ofArray(new byte[size]);
    assertThatThrownBy(() -> kernels.decode(rows, 0, codes, order, 0, ROWS, table(16), picked, out))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a table of 16 channels under codes of 32; expected as many");
  }

  @ParameterizedTest
  @ValueSource(ints = {4, -1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aRowOfHalvesThatIsNotThereIsRefused(int row) {
    MemorySegment halves = MemorySegment.ofArray(new byte[2 * 4 * WIDTH]);
    picked[1] = row;
    assertThatThrownBy(() -> kernels.gather(halves, 0, WIDTH, picked, ROWS, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void rowsOfHalvesThatAreNotAllThereAreRefused() {
    picked[1] = 3;
    for (long bytes : new long[] {2 * 4 * WIDTH - 1, 2}) {
      MemorySegment halves = MemorySegment.ofArray(new byte[(int) bytes]);
      assertThatThrownBy(() -> kernels.gather(halves, 0, WIDTH, picked, ROWS, WIDTH, out))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    MemorySegment halves = MemorySegment.ofArray(new byte[2 * 4 * WIDTH]);
    assertThatThrownBy(() -> kernels.gather(halves, 2, WIDTH, picked, ROWS, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.gather(halves, 0, -WIDTH, picked, ROWS, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.gather(halves, 0, WIDTH, picked, ROWS + 1, WIDTH, out))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void anglesThatAreNotAllThereAreRefused() {
    float[] angles = new float[ROWS * WIDTH / 2];
    float[] fewer = new float[angles.length - 1];
    assertThatThrownBy(() -> kernels.turnEach(out, ROWS, WIDTH / 2, fewer, angles))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.turnEach(out, ROWS, WIDTH / 2, angles, fewer))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.turnEach(fewer, ROWS, WIDTH / 2, angles, angles))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
