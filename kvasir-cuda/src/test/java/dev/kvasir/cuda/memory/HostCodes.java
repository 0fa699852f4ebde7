package dev.kvasir.cuda.memory;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.RowScaledCodes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.UnaryOperator;

/** Numbers quantized on the host. */
public record HostCodes(RowScaledCodes matrix, MemorySegment bytes, byte[] codes) {
  private static final int TOKENS = Fp16Page.TOKENS;

  public static HostCodes of(RowScaledCodes matrix, float[] numbers) {
    MemorySegment bytes = Arena.ofAuto().allocate(matrix.bytes());
    matrix.quantize(new CodeScratch(), numbers, bytes, 0);
    byte[] codes = new byte[matrix.layout().rows() * matrix.layout().columns()];
    matrix.layout().unpack(new CodeScratch(), bytes, 0, codes);
    return new HostCodes(matrix, bytes, codes);
  }

  public int code(int entry, int lane) {
    return Byte.toUnsignedInt(codes[entry * matrix.layout().columns() + lane]);
  }

  public short scale(int entry, int lane) {
    return bytes.get(JAVA_SHORT_UNALIGNED, matrix.scalesOffset(lane / matrix.group()) + 2L * entry);
  }

  public short zero(int entry, int lane) {
    return bytes.get(JAVA_SHORT_UNALIGNED, matrix.zerosOffset(lane / matrix.group()) + 2L * entry);
  }

  /**
   * Compares consecutive pages with the host's codes of the same numbers.
   *
   * @param side 0 for keys, by channel over tokens; 1 for values, by token over channels
   * @param grid (64 * pages, headDim)
   * @param codes extracts the codes of a page, in the layout
   */
  public static void check(
      PackedPageReader reader,
      int side,
      int group,
      float[] grid,
      List<MemorySegment> pages,
      UnaryOperator<MemorySegment> codes) {
    int dim = reader.headDim();
    int tokens = grid.length / dim;
    float[] numbers = side == 0 ? transposed(grid, dim) : grid;
    HostCodes host =
        of(
            side == 0
                ? new RowScaledCodes(dim, tokens, reader.bits(0), group)
                : new RowScaledCodes(tokens, dim, reader.bits(1), group),
            numbers);
    for (int page = 0; page < pages.size(); page++) {
      MemorySegment found = codes.apply(pages.get(page));
      for (int token = 0; token < TOKENS; token++) {
        for (int c = 0; c < dim; c++) {
          if (side == 0) {
            host.checkKey(reader, found, token, c, page * TOKENS + token);
          } else {
            host.checkValue(reader, found, token, c, page * TOKENS + token);
          }
        }
      }
    }
  }

  /**
   * Compares a key of a page with the host's.
   *
   * @param column its token among those quantized on the host
   */
  public void checkKey(
      PackedPageReader reader, MemorySegment page, int token, int channel, int column) {
    assertThat(reader.code(page, reader.keyCodeBits(token, channel)))
        .isEqualTo(code(channel, column));
    assertThat(PackedPageReader.half(page, reader.keyScaleAt(token, channel)))
        .isEqualTo(scale(channel, column));
    assertThat(PackedPageReader.half(page, reader.keyZeroAt(token, channel)))
        .isEqualTo(zero(channel, column));
  }

  private void checkValue(
      PackedPageReader reader, MemorySegment page, int token, int channel, int row) {
    assertThat(reader.code(page, reader.valueCodeBits(token, channel)))
        .isEqualTo(code(row, channel));
    assertThat(PackedPageReader.half(page, reader.valueScaleAt(token, channel)))
        .isEqualTo(scale(row, channel));
    assertThat(PackedPageReader.half(page, reader.valueZeroAt(token, channel)))
        .isEqualTo(zero(row, channel));
  }

  private static float[] transposed(float[] grid, int dim) {
    int tokens = grid.length / dim;
    float[] byChannel = new float[grid.length];
    for (int i = 0; i < grid.length; i++) {
      byChannel[i % dim * tokens + i / dim] = grid[i];
    }
    return byChannel;
  }
}
