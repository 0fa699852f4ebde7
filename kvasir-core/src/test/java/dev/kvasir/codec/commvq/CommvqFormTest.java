package dev.kvasir.codec.commvq;

import dev.kvasir.codec.Forms;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import org.junit.jupiter.api.Test;

class CommvqFormTest {
  private static final CommvqShape SHAPE = new CommvqShape(1, 8, 2);

  /** The form of docs/format.md, to the letter; made-up codes need no codebooks. */
  @Test
  void theFormIsAsItIsWrittenDown() {
    try (Page page =
        new CommvqPage(
            new SharedArena(), SHAPE, null, KeyReading.SUMS, null, 384, encoded(1), encoded(2))) {
      Forms.assertWrittenDown(
          page.form(),
          1304,
          "8ed3cc75",
          "4b565047 02 04 0a050000", // magic, version, kind, bytes
          "0100 0800 0200", // KV heads, channels, stages
          "80010000", // position
          "0100 0200 0300"); // scales of keys begin
    }
  }

  private static EncodedBlock encoded(int seed) {
    short[] codes = new short[SHAPE.kvHeads() * Page.TOKENS * SHAPE.stages()];
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
