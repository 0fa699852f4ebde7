package dev.kvasir.codec.uniform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HalfCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.LaneScaledCodes;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PageFormTest {
  private static final int HEAD_DIM = 20;

  @Test
  void aStoredPageIsReadAsItWas() {
    try (UniformPage page = page();
        UniformPage read = PageForm.read(PageForm.write(page), Lookups.EXACT)) {
      assertThat(read.bytes().mismatch(page.bytes())).isEqualTo(-1);
      assertThat(PageForm.write(read)).isEqualTo(PageForm.write(page));
    }
  }

  /** The form is a promise to files that exist: these bytes must never change. */
  @Test
  void theFormBeginsAsItIsWrittenDown() {
    try (UniformPage page = page()) {
      byte[] bytes = PageForm.write(page);
      assertThat(new String(bytes, 0, 4, java.nio.charset.StandardCharsets.US_ASCII))
          .isEqualTo("KVPG");
      assertThat(Arrays.copyOfRange(bytes, 4, 42))
          .containsExactly(
              1,
              1,
              1,
              0, // version, kind, heads
              1,
              3, // ordered, blocks of keys
              3,
              16,
              2,
              0,
              (byte) 128,
              0,
              0,
              0, // halves
              1,
              4,
              6,
              0,
              (byte) 128,
              0,
              32,
              0, // entry-scaled
              2,
              2,
              12,
              0,
              (byte) 128,
              0,
              0,
              0, // lane-scaled
              1,
              2,
              (byte) 128,
              0,
              20,
              0,
              20,
              0); // values
    }
  }

  @Test
  void everyCutAndEveryDamagedHeaderIsRefusedOrRead() {
    long before = CountedArena.liveBytes();
    byte[] good;
    try (UniformPage page = page()) {
      good = PageForm.write(page);
    }
    for (int length = 0; length < good.length; length += length < 64 ? 1 : 97) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThatThrownBy(() -> PageForm.read(cut, Lookups.EXACT))
          .isInstanceOf(InvalidInputException.class);
    }
    for (int at = 0; at < 62; at++) {
      for (int value : new int[] {0, 1, 2, 3, 4, 9, 127, 128, 255}) {
        byte[] damaged = good.clone();
        damaged[at] = (byte) value;
        try (UniformPage page = PageForm.read(damaged, Lookups.EXACT)) {
          assertThat(page.bytes().byteSize()).isPositive();
        } catch (InvalidInputException refused) {
          assertThat(refused).hasMessageContaining("stored page");
        }
      }
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static UniformPage page() {
    Random random = new Random(3);
    float[] vectors = new float[Page.TOKENS * HEAD_DIM];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = (float) random.nextGaussian();
    }
    HeadShape shape =
        new HeadShape(
            List.of(
                new HalfCodes(2, Page.TOKENS),
                new EntryScaledCodes(6, Page.TOKENS, 4, 32),
                new LaneScaledCodes(12, Page.TOKENS, 2)),
            true,
            new EntryScaledCodes(Page.TOKENS, HEAD_DIM, 2, 128));
    int[] order = new int[HEAD_DIM];
    Arrays.setAll(order, i -> HEAD_DIM - 1 - i);
    return UniformPage.pack(List.of(shape), Lookups.EXACT, new int[][] {order}, vectors, vectors);
  }
}
