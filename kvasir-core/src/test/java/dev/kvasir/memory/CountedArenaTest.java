package dev.kvasir.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CountedArenaTest {
  @Test
  void bytesAreCountedUntilTheArenaIsClosed() {
    long arenasBefore = CountedArena.liveArenas();
    long bytesBefore = CountedArena.liveBytes();
    CountedArena arena = new CountedArena();
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore + 1);
    arena.allocate(100);
    arena.allocate(1);
    assertThat(arena.bytes()).isEqualTo(101);
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore + 101);
    arena.close();
    assertThat(arena.bytes()).isZero();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }

  @Test
  void closingTwiceCountsOnce() {
    long before = CountedArena.liveArenas();
    CountedArena arena = new CountedArena();
    arena.close();
    arena.close();
    assertThat(CountedArena.liveArenas()).isEqualTo(before);
  }

  @Test
  void memoryIsZeroedAndAlignedToACacheLine() {
    try (CountedArena arena = new CountedArena()) {
      for (int size : new int[] {1, 63, 64, 65, 4097}) {
        MemorySegment segment = arena.allocate(size);
        assertThat(segment.byteSize()).isEqualTo(size);
        assertThat(segment.address() % 64).isZero();
        assertThat(segment.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
      }
    }
  }

  @Test
  void useAfterCloseThrows() {
    CountedArena arena = new CountedArena();
    MemorySegment segment = arena.allocate(8);
    arena.close();
    assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> arena.allocate(8)).isInstanceOf(IllegalStateException.class);
    assertThat(arena.bytes()).isZero();
  }

  @Test
  void failedAllocationsAreNotCounted() {
    long before = CountedArena.liveBytes();
    try (CountedArena arena = new CountedArena()) {
      assertThatThrownBy(() -> arena.allocate(1L << 60)).isInstanceOf(OutOfMemoryError.class);
      assertThatThrownBy(() -> arena.allocate(-1)).isInstanceOf(IllegalArgumentException.class);
      assertThat(arena.bytes()).isZero();
      assertThat(CountedArena.liveBytes()).isEqualTo(before);
    }
  }

  @Test
  void manyThreadsMayAllocateFromOneArena() {
    try (CountedArena arena = new CountedArena()) {
      IntStream.rangeClosed(1, 500).parallel().forEach(arena::allocate);
      assertThat(arena.bytes()).isEqualTo(500L * 501 / 2);
    }
  }
}
