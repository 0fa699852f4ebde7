package dev.kvasir.store.beginning;

import dev.kvasir.cache.CacheForm;
import dev.kvasir.store.TieredBlobs;
import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.TokenChain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Names of blocks that were written, by identity and all tokens up to their ends: a conversation
 * that has grown by a turn need not be made into bytes from its beginning on. Only of caches whose
 * blocks are the same bits wherever the tokens are the same. For one thread.
 */
final class KnownBlocks {
  /** Some 250 bytes each; a million tokens. */
  private static final int MOST = 8192;

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final TieredBlobs blobs;
  private final Map<String, String> names =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
          return size() > MOST;
        }
      };

  KnownBlocks(TieredBlobs blobs) {
    this.blobs = blobs;
  }

  /** The first blocks of a cache, as far as their names are known and all tiers have them still. */
  List<String> first(Identity identity, int[] tokens, CacheForm cache) {
    List<String> known = new ArrayList<>();
    for (String chain : chains(identity, tokens, cache)) {
      String name = names.get(chain);
      if (name == null) {
        break;
      }
      known.add(name);
    }
    List<BlobName> wanted = known.stream().map(BeginningWriter::blockName).toList();
    Set<BlobName> there = blobs.everywhere(wanted, Deadline.in(PATIENCE));
    int count = 0;
    while (count < wanted.size() && there.contains(wanted.get(count))) {
      count++;
    }
    return known.subList(0, count);
  }

  void add(Identity identity, int[] tokens, CacheForm cache, List<String> written) {
    List<String> chains = chains(identity, tokens, cache);
    for (int i = 0; i < written.size(); i++) {
      names.put(chains.get(i), written.get(i));
    }
  }

  void forgetAll() {
    names.clear();
  }

  private static List<String> chains(Identity identity, int[] tokens, CacheForm cache) {
    List<String> chains = new ArrayList<>();
    byte[] chain = TokenChain.begin(identity);
    for (int i = 0; i < cache.blocks(); i++) {
      chain = TokenChain.next(chain, tokens, i == 0 ? 0 : cache.end(i - 1), cache.end(i));
      chains.add(HexFormat.of().formatHex(chain));
    }
    return chains;
  }
}
