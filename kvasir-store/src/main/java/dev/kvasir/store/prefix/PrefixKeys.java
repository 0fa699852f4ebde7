package dev.kvasir.store.prefix;

import dev.kvasir.engine.Request;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.TokenChain;
import java.util.ArrayList;
import java.util.List;

/**
 * The names of prefix records: one record for each whole number of prefill steps. A record may also
 * hold tokens of a partial further step; the next text with the same whole steps then replaces it.
 */
final class PrefixKeys {
  private static final int STEP = Request.PREFILL_STEP;

  private PrefixKeys() {}

  /**
   * Returns the record name of all whole steps in the first {@code length} tokens; there is at
   * least one.
   */
  static BlobName last(Identity identity, int[] text, int length) {
    return all(identity, text, length).getLast();
  }

  /**
   * Returns the record names of the prefixes of one step, two steps and so on up to {@code length}.
   */
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
