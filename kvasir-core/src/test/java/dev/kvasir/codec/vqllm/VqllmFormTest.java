package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Forms;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.SharedArena;
import org.junit.jupiter.api.Test;

class VqllmFormTest {
  private static final int STAGES = 4;

  /** The form of docs/format.md, to the letter; made-up codes need no codebooks. */
  @Test
  void theFormIsAsItIsWrittenDown() {
    VqllmCodec codec = VqllmCodec.ofSizes(new CacheShape(1, 1, 8), STAGES);
    LayerBooks books = new LayerBooks(null, null, 0x01020304);
    try (VqllmPage page = new VqllmPage(new SharedArena(), codec, books, 384)) {
      VqllmShape shape = codec.shape();
      page.write(shape.keys(), 0, codes(1));
      page.write(shape.values(), 0, codes(3));
      page.writeScales(shape.keys(), scales(0.5f));
      page.writeScales(shape.values(), scales(0.25f));
      Forms.assertWrittenDown(
          page.form(),
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
