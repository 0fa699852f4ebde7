package dev.kvasir.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pools whose bytes are some of another pool's. */
class MemoryPoolPartTest {
  private final MemoryPool whole = new MemoryPool(100);
  private final MemoryPool quarter = whole.part(25);
  private final MemoryPool rest = whole.part(75);

  @Test
  void bytesCountInThePartAndInTheWhole() {
    quarter.acquire(20);
    rest.acquire(30);
    rest.overdraw(5);
    assertThat(quarter.usedBytes()).isEqualTo(20);
    assertThat(rest.usedBytes()).isEqualTo(35);
    assertThat(whole.usedBytes()).isEqualTo(55);
    rest.release(35);
    quarter.release(20);
    assertThat(List.of(quarter.usedBytes(), rest.usedBytes(), whole.usedBytes())).containsOnly(0L);
    assertThat(whole.peakBytes()).isEqualTo(50);
  }

  @Test
  void aRefusedRequestChangesNeither() {
    assertThatThrownBy(() -> quarter.acquire(26)).isInstanceOf(MemoryFullException.class);
    whole.acquire(80);
    assertThat(quarter.tryAcquire(21)).isFalse();
    assertThat(quarter.usedBytes()).isZero();
    assertThat(quarter.peakBytes()).isZero();
    assertThat(whole.usedBytes()).isEqualTo(80);
    assertThat(quarter.tryAcquire(20)).isTrue();
  }

  /** A member of the whole frees a quarter of its bytes in the small part. */
  @Test
  void aFullPartAsksForAsMuchOfTheWholeAsItMisses() {
    quarter.acquire(20);
    rest.acquire(60);
    List<Long> asked = new ArrayList<>();
    whole.register(
        (level, bytes) -> {
          asked.add(bytes);
          quarter.release(bytes / 4);
          rest.release(bytes - bytes / 4);
        });
    quarter.acquire(10);
    assertThat(asked).containsExactly(20L);
    assertThat(quarter.usedBytes()).isEqualTo(25);
    assertThat(rest.usedBytes()).isEqualTo(45);
  }

  @Test
  void aPartAsksForWhatTheWholeMisses() {
    whole.acquire(90);
    List<Long> asked = new ArrayList<>();
    quarter.register(
        (level, bytes) -> {
          asked.add(bytes);
          whole.release(bytes);
        });
    rest.acquire(25);
    assertThat(asked).containsExactly(15L);
    assertThat(whole.usedBytes()).isEqualTo(100);
  }
}
