package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.function.UnaryOperator;

/**
 * How pages are stored that lie far behind a sequence's end: packed anew with fewer bits, of what
 * attention sees of them. In memory they stay as they are until the sequence is restored.
 *
 * @param behind tokens that must follow a page
 * @param codec packs them, and keeps nothing of a sequence
 */
public record OldPages(int behind, StatelessCodec codec) {
  private static final Kernels KERNELS = new ScalarKernels();

  /**
   * @param end position behind a page
   * @param length tokens of the sequence
   */
  public boolean include(int end, int length) {
    return length - end >= behind;
  }

  /** The same with what becomes of the codec, which keeps nothing of a sequence either. */
  OldPages map(UnaryOperator<PageCodec> change) {
    return new OldPages(behind, (StatelessCodec) change.apply(codec));
  }

  /** The stored form of a page that is as wide as the sequence's own. */
  public byte[] form(CacheShape shape, int layer, int position, Page wide) {
    float[] keys = new float[Math.multiplyExact(shape.kvHeads() * Page.TOKENS, shape.keyDim())];
    float[] values =
        new float[Math.multiplyExact(shape.kvHeads() * Page.TOKENS, shape.storedValueDim())];
    expand(shape, wide, keys, values);
    try (Page narrow = codec.seal(layer, position, keys, values)) {
      return narrow.form();
    }
  }

  private static void expand(CacheShape shape, Page page, float[] keys, float[] values) {
    PageRoom room = new PageRoom(KERNELS);
    float[] head = new float[Page.TOKENS * Math.max(shape.keyDim(), shape.valueDim())];
    int keysOfHead = Page.TOKENS * shape.keyDim();
    int valuesOfHead = Page.TOKENS * shape.storedValueDim();
    for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
      page.expandKeys(room, kvHead, Page.TOKENS, head);
      System.arraycopy(head, 0, keys, kvHead * keysOfHead, keysOfHead);
      if (valuesOfHead > 0) {
        page.expandValues(room, kvHead, Page.TOKENS, head);
        System.arraycopy(head, 0, values, kvHead * valuesOfHead, valuesOfHead);
      }
    }
  }
}
