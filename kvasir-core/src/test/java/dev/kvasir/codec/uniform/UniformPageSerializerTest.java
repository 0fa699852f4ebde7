package dev.kvasir.codec.uniform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.Bf16Codes;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.RowScaledCodes;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class UniformPageSerializerTest {
  private static final int HEAD_DIM = 20;
  private static final HeadShape SHAPE =
      new HeadShape(
          List.of(
              new Bf16Codes(2, Page.TOKENS),
              new RowScaledCodes(6, Page.TOKENS, 4, 32),
              new ColumnScaledCodes(12, Page.TOKENS, 2)),
          true,
          new RowScaledCodes(Page.TOKENS, HEAD_DIM, 2, 128));
  private static final int DESCRIPTION_END = 10 + 2 + 2 + 4 * 8;

  @Test
  void bytesAreAsDocumented() {
    SnapshotAssertions.assertBytes(
        snapshot(),
        3622,
        "abd5ab5b",
        "4b565047 02 01 180e0000", // version, kind, bytes
        "0100", // heads
        "01 03", // ordered, matrices of keys
        "03 10 0200 8000 0000", // halves
        "09 04 0600 8000 2000", // row-scaled
        "0a 02 0c00 8000 0000", // column-scaled
        "09 02 8000 1400 1400", // values
        "13121110"); // start of the channel order
  }

  /** A byte distinguishes 256 channels, so the indices of a longer order have two bytes. */
  @Test
  void bytesOfALongOrderAreAsDocumented() {
    int keyDim = 260;
    HeadShape shape =
        new HeadShape(
            List.of(new Bf16Codes(1, Page.TOKENS), new ColumnScaledCodes(259, Page.TOKENS, 1)),
            true,
            new RowScaledCodes(Page.TOKENS, 8, 1, 128));
    int[] order = new int[keyDim];
    Arrays.setAll(order, i -> keyDim - 1 - i);
    float[] keys = SnapshotAssertions.wholeNumbers(Page.TOKENS * keyDim);
    float[] values = SnapshotAssertions.wholeNumbers(Page.TOKENS * 8);
    try (UniformPage page =
        UniformPage.quantize(
            List.of(shape), OperandPrecision.EXACT, new int[][] {order}, keys, values)) {
      SnapshotAssertions.assertBytes(
          page.serialize(),
          6322,
          "4595fcd5",
          "4b565047 02 01 a4180000", // version, kind, bytes
          "0100", // heads
          "01 02", // ordered, matrices of keys
          "03 10 0100 8000 0000", // halves
          "0a 01 0301 8000 0000", // column-scaled
          "09 01 8000 0800 0800", // values
          "0301 0201 0101 0001 ff00"); // start of the channel order
      try (UniformPage read = read(page.serialize(), 1, shape)) {
        assertThat(read.channelAt(0, 0)).isEqualTo(259);
        assertThat(read.channelAt(0, 259)).isZero();
        assertThat(read.bytes().mismatch(page.bytes())).isEqualTo(-1);
      }
    }
  }

  @Test
  void pageRoundTrips() {
    try (UniformPage page = page();
        UniformPage read = read(page.serialize())) {
      assertThat(read.bytes().mismatch(page.bytes())).isEqualTo(-1);
      assertThat(read.serialize()).isEqualTo(page.serialize());
    }
  }

  @Test
  void messageForAnotherShapeNamesBoth() {
    byte[] snapshot = snapshot();
    HeadShape other = HeadShape.uniform(HEAD_DIM, 2, 128, 2, 128);
    assertThatThrownBy(() -> read(snapshot, 1, other))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("head 0 keys of [kind 3, 16 bits, 2 x 128, group 0, kind 9")
        .hasMessageContaining("this cache has keys of [kind 9, 2 bits, 20 x 128, group 128] and");
    assertThatThrownBy(() -> read(snapshot, 2, SHAPE))
        .hasMessage("a stored page has 1 KV heads; this cache has 2");
  }

  /** As from a faulty writer, whose checksum is correct. */
  @Test
  void invalidDescriptionWithCorrectChecksumIsRejected() {
    long before = CountedArena.liveBytes();
    byte[] good = snapshot();
    for (int at = 10; at < DESCRIPTION_END + HEAD_DIM; at++) {
      for (int value : new int[] {0, 1, 2, 3, 4, 9, 127, 128, 255}) {
        if (good[at] != (byte) value) {
          byte[] wrong = good.clone();
          wrong[at] = (byte) value;
          assertThatThrownBy(() -> read(SnapshotAssertions.withChecksum(wrong)))
              .as("byte %d is %d", at, value)
              .isInstanceOf(InvalidInputException.class)
              .hasMessageStartingWith("a stored page ");
        }
      }
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static UniformPage read(byte[] snapshot) {
    return read(snapshot, 1, SHAPE);
  }

  private static UniformPage read(byte[] snapshot, int kvHeads, HeadShape shape) {
    SharedArena memory = new SharedArena();
    try {
      return UniformPage.deserialize(
          memory, Snapshot.of(snapshot), kvHeads, found -> shape, OperandPrecision.EXACT);
    } finally {
      memory.release();
    }
  }

  private static byte[] snapshot() {
    try (UniformPage page = page()) {
      return page.serialize();
    }
  }

  private static UniformPage page() {
    float[] vectors = SnapshotAssertions.wholeNumbers(Page.TOKENS * HEAD_DIM);
    int[] order = new int[HEAD_DIM];
    Arrays.setAll(order, i -> HEAD_DIM - 1 - i);
    return UniformPage.quantize(
        List.of(SHAPE), OperandPrecision.EXACT, new int[][] {order}, vectors, vectors);
  }
}
