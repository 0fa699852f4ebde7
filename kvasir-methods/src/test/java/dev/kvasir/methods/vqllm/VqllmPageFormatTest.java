package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.memory.SharedArena;
import org.junit.jupiter.api.Test;

class VqllmPageFormatTest {
  private static final int STAGES = 4;

  /** The format, byte by byte; synthetic codes need no codebooks. */
  @Test
  void theFormatIsAsDocumented() {
    VqllmCodec codec = VqllmCodec.forEstimate(new CacheShape(1, 1, 8), STAGES);
    LayerResidualCodebooks codebooks = new LayerResidualCodebooks(null, null, 0x01020304);
    try (VqllmPage page = new VqllmPage(new SharedArena(), codec, codebooks, 384)) {
      VqllmPageLayout layout = codec.layout();
      page.write(layout.keys(), 0, codes(1));
      page.write(layout.values(), 0, codes(3));
      page.writeScales(layout.keys(), scales(0.5f));
      page.writeScales(layout.values(), scales(0.25f));
      SnapshotAssertions.assertBytes(
          page.serialize(),
          1565,
          "80a078bd",
          "4b565047 02 2c 0f060000", // magic, version, kind, bytes
          "0100 0800 0800 04", // KV heads, channels of keys and of values, stages
          "04030201", // fingerprint
          "80010000", // position
          "00 01 02 03"); // rows of the first key's group
    }
  }

  private static byte[] codes(int step) {
    byte[] codes = new byte[Page.TOKENS * STAGES];
    for (int i = 0; i < codes.length; i++) {
      codes[i] = (byte) (i * step);
    }
    return codes;
  }

  private static float[] scales(float step) {
    float[] scales = new float[Page.TOKENS];
    for (int token = 0; token < scales.length; token++) {
      scales[token] = token * step;
    }
    return scales;
  }
}
