package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.page.CodeRoom;
import dev.kvasir.page.EntryScaledCodes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.UnaryOperator;

/** Numbers as the host codes them. */
record HostCodes(EntryScaledCodes grid, MemorySegment bytes, byte[] codes) {
  private static final int TOKENS = HalfPage.TOKENS;

  static HostCodes of(EntryScaledCodes grid, float[] numbers) {
    MemorySegment bytes = Arena.ofAuto().allocate(grid.bytes());
    grid.pack(new CodeRoom(), numbers, bytes, 0);
    byte[] codes = new byte[grid.layout().entries() * grid.layout().lanes()];
    grid.layout().unpack(new CodeRoom(), bytes, 0, codes);
    return new HostCodes(grid, bytes, codes);
  }

  int code(int entry, int lane) {
    return codes[entry * grid.layout().lanes() + lane];
  }

  short scale(int entry, int lane) {
    return bytes.get(JAVA_SHORT_UNALIGNED, grid.scalesOffset(lane / grid.group()) + 2L * entry);
  }

  short zero(int entry, int lane) {
    return bytes.get(JAVA_SHORT_UNALIGNED, grid.zerosOffset(lane / grid.group()) + 2L * entry);
  }

  /**
   * Compares pages that follow each other with the host's codes of the same numbers.
   *
   * @param side 0 for keys, by channel over tokens; 1 for values, by token over channels
   * @param grid (64 * pages, headDim)
   * @param codes of a page, in the layout
   */
  static void check(
      PackedPage layout,
      int side,
      int group,
      float[] grid,
      List<MemorySegment> pages,
      UnaryOperator<MemorySegment> codes) {
    int dim = layout.headDim();
    int tokens = grid.length / dim;
    float[] numbers = side == 0 ? turned(grid, dim) : grid;
    HostCodes host =
        of(
            side == 0
                ? new EntryScaledCodes(dim, tokens, layout.bits(), group)
                : new EntryScaledCodes(tokens, dim, layout.bits(), group),
            numbers);
    for (int page = 0; page < pages.size(); page++) {
      MemorySegment found = codes.apply(pages.get(page));
      for (int token = 0; token < TOKENS; token++) {
        for (int c = 0; c < dim; c++) {
          int entry = side == 0 ? c : page * TOKENS + token;
          int lane = side == 0 ? page * TOKENS + token : c;
          int bit = side == 0 ? layout.keyCodeBit(token, c) : layout.valueCodeBit(token, c);
          int scale = side == 0 ? layout.keyScaleAt(token, c) : layout.valueScaleAt(token, c);
          int zero = side == 0 ? layout.keyZeroAt(token, c) : layout.valueZeroAt(token, c);
          assertThat(layout.code(found, bit)).isEqualTo(host.code(entry, lane));
          assertThat(PackedPage.half(found, scale)).isEqualTo(host.scale(entry, lane));
          assertThat(PackedPage.half(found, zero)).isEqualTo(host.zero(entry, lane));
        }
      }
    }
  }

  private static float[] turned(float[] grid, int dim) {
    int tokens = grid.length / dim;
    float[] byChannel = new float[grid.length];
    for (int i = 0; i < grid.length; i++) {
      byChannel[i % dim * tokens + i / dim] = grid[i];
    }
    return byChannel;
  }
}
