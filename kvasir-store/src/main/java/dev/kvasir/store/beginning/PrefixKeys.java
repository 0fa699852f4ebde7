package dev.kvasir.store.beginning;

import dev.kvasir.engine.Request;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.TokenChain;
import java.util.ArrayList;
import java.util.List;

/**
 * Where beginnings of a text lie: one record for each whole number of steps. It may hold tokens of
 * a further step too; then it gives way to the next text that has the same steps.
 */
final class PrefixKeys {
  private static final int STEP = Request.PREFILL_STEP;

  private PrefixKeys() {}

  /** The record of all whole steps of the first so many tokens, of which there is at least one. */
  static BlobName last(Identity identity, int[] text, int length) {
    return all(identity, text, length).getLast();
  }

  /** Those of one step, of two and so on, up to a length. */
  static List<BlobName> all(Identity identity, int[] text, int length) {
    List<BlobName> names = new ArrayList<>();
    byte[] chain = TokenChain.begin(identity);
    for (int end = STEP; end <= length; end += STEP) {
      chain = TokenChain.next(chain, text, end - STEP, end);
      names.add(BlobName.record(chain));
    }
    return names;
  }
}
