package dev.kvasir.cuda.formats;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.DeviceTestCase;
import dev.kvasir.cuda.formats.DeviceBatch.Tokens;
import dev.kvasir.cuda.formats.kivi.KiviFormat;
import dev.kvasir.cuda.formats.kivi.KiviPageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.HostCodes;
import dev.kvasir.cuda.memory.PackedPageReader;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The device stores the same numbers as the host. */
class KvAppendKernelTest extends DeviceTestCase {
  private static final int TOKENS = Fp16Page.TOKENS;

  static Stream<Integer> headDims() {
    return HeadBlocks.HEAD_DIMS.stream();
  }

  @ParameterizedTest
  @MethodSource("headDims")
  void rowsAreWrittenByTheLayout(int headDim) {
    AttentionShape shape = new AttentionShape(4, 2, headDim);
    DeviceBatch batch =
        new DeviceBatch(device, PageFormat.FP16, shape, List.of(new Tokens(3, 0, 130)), 3);
    Fp16Page layout = new Fp16Page(headDim);
    MemorySegment pages = batch.halfPages();
    for (int token = 0; token < 133; token++) {
      int place = (int) batch.halfPlace(0, token) & TOKENS - 1;
      for (int i = 0; i < 2 * headDim; i++) {
        long page = batch.halfOffset(0, token) + (long) i / headDim * layout.bytes();
        int row = token * 2 * headDim + i;
        assertThat(pages.get(JAVA_SHORT_UNALIGNED, page + layout.keyOffset(place, i % headDim)))
            .isEqualTo(batch.rows.get(0)[0][row]);
        assertThat(pages.get(JAVA_SHORT_UNALIGNED, page + layout.valueOffset(place, i % headDim)))
            .isEqualTo(batch.rows.get(0)[1][row]);
      }
    }
  }

  static Stream<Arguments> everyPacking() {
    return Formats.PACKED.stream()
        .flatMap(
            format ->
                headDims()
                    .flatMap(
                        headDim ->
                            Stream.of(
                                Arguments.of(format, headDim, 32, 32),
                                Arguments.of(format, headDim, 64, 64),
                                Arguments.of(format, headDim, 64, 128),
                                Arguments.of(format, headDim, 128, 128))));
  }

  @ParameterizedTest
  @MethodSource("everyPacking")
  void packedPagesMatchTheHostBitByBit(
      PageFormat format, int headDim, int keyGroup, int valueGroup) {
    AttentionShape shape = new AttentionShape(4, 2, headDim);
    DeviceBatch batch =
        new DeviceBatch(device, format, shape, List.of(new Tokens(5, 4 * TOKENS, 9)), 3)
            .quantized(keyGroup, valueGroup);
    List<MemorySegment> pages = batch.packedPages(0);
    PackedPageReader layout = batch.reader();
    if (keyGroup > TOKENS) {
      checkPairs(batch, layout, pages, keyGroup);
    }
    for (int page = 0; page < pages.size(); page++) {
      for (int head = 0; head < 2; head++) {
        MemorySegment found = pages.get(page).asSlice((long) head * layout.bytes(), layout.bytes());
        checkPage(layout, 1, valueGroup, grid(batch, 1, page, head), found);
        if (keyGroup <= TOKENS) {
          checkPage(layout, 0, keyGroup, grid(batch, 0, page, head), found);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("everyPacking")
  void dequantizedPagesMatchAttention(
      PageFormat format, int headDim, int keyGroup, int valueGroup) {
    AttentionShape shape = new AttentionShape(4, 2, headDim);
    DeviceBatch batch =
        new DeviceBatch(device, format, shape, List.of(new Tokens(0, 4 * TOKENS, 9)), 3)
            .quantized(keyGroup, valueGroup);
    List<MemorySegment> packed = batch.packedPages(0);
    batch.dequantize();
    MemorySegment pages = batch.halfPages();
    PackedPageReader from = batch.reader();
    Fp16Page to = new Fp16Page(headDim);
    for (int token = 0; token < 4 * TOKENS; token++) {
      int place = token % TOKENS;
      for (int i = 0; i < 2 * headDim; i++) {
        MemorySegment page =
            packed.get(token / TOKENS).asSlice((long) (i / headDim) * from.bytes(), from.bytes());
        long at = batch.halfOffset(0, token) + (long) (i / headDim) * to.bytes();
        int c = i % headDim;
        assertThat(pages.get(JAVA_SHORT_UNALIGNED, at + to.keyOffset(place, c)))
            .isEqualTo(Float.floatToFloat16(from.key(page, place, c, 1)));
        assertThat(pages.get(JAVA_SHORT_UNALIGNED, at + to.valueOffset(place, c)))
            .isEqualTo(Float.floatToFloat16(from.value(page, place, c, 1)));
      }
    }
  }

  private static void checkPage(
      PackedPageReader layout, int side, int group, float[] grid, MemorySegment page) {
    HostCodes.check(layout, side, group, grid, List.of(page), found -> found);
  }

  /** Keys of two pages share scales. */
  private static void checkPairs(
      DeviceBatch batch, PackedPageReader layout, List<MemorySegment> pages, int group) {
    for (int page = 0; page < pages.size(); page += 2) {
      for (int head = 0; head < 2; head++) {
        float[] first = grid(batch, 0, page, head);
        float[] both = Arrays.copyOf(first, 2 * first.length);
        System.arraycopy(grid(batch, 0, page + 1, head), 0, both, first.length, first.length);
        long at = (long) head * layout.bytes();
        HostCodes.check(
            layout,
            0,
            group,
            both,
            pages.subList(page, page + 2),
            found -> found.asSlice(at, layout.bytes()));
      }
    }
  }

  /** Returns the rows of a page's tokens. // (64, headDim) */
  private static float[] grid(DeviceBatch batch, int side, int page, int head) {
    int dim = batch.shape().headDim();
    float[] grid = new float[TOKENS * dim];
    int first = batch.sequences().getFirst().sinks() + page * TOKENS;
    for (int token = 0; token < TOKENS; token++) {
      for (int c = 0; c < dim; c++) {
        int from = ((first + token) * batch.shape().kvHeads() + head) * dim + c;
        grid[token * dim + c] = Float.float16ToFloat(batch.rows.getFirst()[side][from]);
      }
    }
    return grid;
  }

  @Test
  void unsupportedGroupsAreRejected() {
    AttentionShape shape = new AttentionShape(4, 2, 128);
    assertThatThrownBy(
            () -> new KiviPageQuantizer(device.module, new KiviFormat(2), shape, 256, 128))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("256 tokens")
        .hasMessageContaining("32, 64 or 128");
  }
}
