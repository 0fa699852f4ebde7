package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.memory.SharedArena;
import dev.kvasir.page.StageCodes;
import org.junit.jupiter.api.Test;

class CommvqSnapshotTest {
  private static final CommvqShape SHAPE = new CommvqShape(1, 8, 2);

  /** The exact bytes that {@link CommvqPage} documents; synthetic codes need no codebooks. */
  @Test
  void bytesAreAsDocumented() {
    try (Page page =
        new CommvqPage(
            new SharedArena(),
            SHAPE,
            null,
            KeyScoring.SUMS,
            null,
            384,
            encoded(1, 2),
            encoded(2, 2))) {
      SnapshotAssertions.assertBytes(
          page.serialize(),
          1304,
          "8ed3cc75",
          "4b565047 02 04 0a050000", // magic, version, kind, bytes
          "0100 0800 0200", // KV heads, channels, stages
          "80010000", // position
          "0100 0200 0300"); // start of the scales of keys
    }
  }

  @Test
  void bytesOfTwoWidthsAreAsDocumented() {
    CommvqShape shape = new CommvqShape(1, 12, 2, 8, 1);
    try (Page page =
        new CommvqPage(
            new SharedArena(),
            shape,
            null,
            KeyScoring.SUMS,
            null,
            384,
            encoded(1, 2),
            encoded(2, 1))) {
      SnapshotAssertions.assertBytes(
          page.serialize(),
          1116,
          "177b2766",
          "4b565047 02 05 4e040000", // magic, version, kind, bytes
          "0100 0c00 0200 0800 0100", // KV heads; channels and stages of keys, and of values
          "80010000", // position
          "0100 0200 0300"); // start of the scales of keys
    }
  }

  @Test
  void bytesOfGroupsAreAsDocumented() {
    CommvqShape shape = new CommvqShape(1, 8, new StageCodes(2), 8, 1, new StageCodes(1, 5));
    try (Page page =
        new CommvqPage(
            new SharedArena(),
            shape,
            null,
            KeyScoring.SUMS,
            null,
            384,
            encoded(1, 2),
            encoded(2, 1))) {
      SnapshotAssertions.assertBytes(
          page.serialize(),
          1088,
          "4be0df1d",
          "4b565047 02 06 32040000", // magic, version, kind, bytes
          "0100 0800 0200 0800 0100", // KV heads; channels and stages of keys, and of values
          "0100 06 05", // KV heads of a group; bits of an index of keys, and of values
          "80010000", // position
          "0100 0200 0300"); // start of the scales of keys
    }
  }

  private static EncodedBlock encoded(int seed, int stages) {
    short[] codes = new short[SHAPE.kvHeads() * Page.TOKENS * stages];
    short[] scales = new short[Page.TOKENS];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (short) ((i * 37 + seed) & 0xFFF);
    }
    for (int i = 0; i < scales.length; i++) {
      scales[i] = (short) (i + seed);
    }
    return new EncodedBlock(codes, scales);
  }
}
