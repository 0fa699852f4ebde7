package dev.kvasir.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GridHeaderTest {
  private static final int T = PageSize.TOKENS;

  /** One of each kind, in the order of their numbers. */
  static List<CodeGrid> grids() {
    return List.of(
        new HalfCodes(3, T),
        new WideCodes(T, 20, false, 16),
        new WideCodes(20, T, true, 20),
        new KeyChannels(T, 20),
        new EntryScaledCodes(20, T, 4, 32),
        new LaneScaledCodes(7, T, 1),
        new EntryScaledCodes(T, 20, 2, 20, ScaleSpan.THIRD),
        new LaneScaledCodes(20, T, 8, ScaleSpan.THIRD),
        new LevelCodes(T, 20, 2, false),
        new LevelCodes(20, T, 3, true));
  }

  /** Numbers in files that exist never change, nor are they given away again. */
  @Test
  void everyKindHasItsOwnNumber() {
    assertThat(grids())
        .extracting(grid -> grid.header().kind())
        .containsExactly(3, 6, 7, 8, 9, 10, 11, 12, 20, 21);
    Stream<Class<?>> known = grids().stream().map(Object::getClass);
    assertThat(known.distinct()).containsExactlyInAnyOrder(CodeGrid.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @MethodSource("grids")
  void aBlockIsReadAsItDescribesItself(CodeGrid grid) {
    ByteBuffer bytes = ByteBuffer.allocate(GridHeader.BYTES);
    grid.header().write(bytes);
    CodeGrid read = GridHeader.read(bytes.flip()).grid();
    assertThat(read).isInstanceOf(grid.getClass());
    assertThat(read.header()).isEqualTo(grid.header());
    assertThat(read.bytes()).isEqualTo(grid.bytes());
  }

  @Test
  void whatNoBlockSaysOfItselfIsRefused() {
    for (int kind : new int[] {0, 1, 2, 4, 5, 13}) { // 1, 2, 4 and 5 had their codes in bit planes
      assertThatThrownBy(() -> new GridHeader(kind, 2, 20, T, 0).grid())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "kind %d; known are [3, 6, 7, 8, 9, 10, 11, 12, 20, 21]".formatted(kind));
    }
    for (GridHeader wrong :
        Arrays.asList(
            new GridHeader(3, 15, 20, T, 0), // halves have 16 bits
            new GridHeader(10, 2, 20, T, 32), // a scale for each lane has no groups
            new GridHeader(9, 2, 20, T, 256), // a group is no larger than the grid
            new GridHeader(9, 9, 20, T, 128),
            new GridHeader(9, 2, 0, T, 128),
            new GridHeader(6, 16, 20, T, 0),
            new GridHeader(8, 2, T, 20, 0))) { // values in keys have no bits of their own
      assertThatThrownBy(wrong::grid).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
