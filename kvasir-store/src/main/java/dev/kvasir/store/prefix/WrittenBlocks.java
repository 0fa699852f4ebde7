package dev.kvasir.store.prefix;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.store.TieredStore;
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
 * The names of written blocks, by identity and all tokens up to each block's end. A conversation
 * that has grown does not serialize its earlier blocks again. Valid only for caches whose blocks
 * depend on nothing but the tokens. Not thread-safe.
 */
final class WrittenBlocks {
  /** Some 250 bytes each, enough for a million tokens. */
  private static final int MAX_ENTRIES = 8192;

  private static final Duration LOOKUP_TIMEOUT = Duration.ofSeconds(1);

  private final TieredStore store;
  private final Map<String, String> names =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
          return size() > MAX_ENTRIES;
        }
      };

  WrittenBlocks(TieredStore store) {
    this.store = store;
  }

  /**
   * Returns the names of the leading blocks of a cache that are known and that all tiers still
   * contain.
   */
  List<String> leadingBlocks(Identity identity, int[] tokens, CacheSnapshot cache) {
    List<String> writtenNames = new ArrayList<>();
    for (String chain : chains(identity, tokens, cache)) {
      String name = names.get(chain);
      if (name == null) {
        break;
      }
      writtenNames.add(name);
    }
    List<BlobName> wanted = writtenNames.stream().map(PrefixWriter::blockName).toList();
    Set<BlobName> existing = store.inAllTiers(wanted, Deadline.in(LOOKUP_TIMEOUT));
    int count = 0;
    while (count < wanted.size() && existing.contains(wanted.get(count))) {
      count++;
    }
    return writtenNames.subList(0, count);
  }

  void add(Identity identity, int[] tokens, CacheSnapshot cache, List<String> written) {
    List<String> chains = chains(identity, tokens, cache);
    for (int i = 0; i < written.size(); i++) {
      names.put(chains.get(i), written.get(i));
    }
  }

  void clear() {
    names.clear();
  }

  private static List<String> chains(Identity identity, int[] tokens, CacheSnapshot cache) {
    List<String> chains = new ArrayList<>();
    byte[] chain = TokenChain.begin(identity);
    for (int i = 0; i < cache.blocks(); i++) {
      chain = TokenChain.next(chain, tokens, i == 0 ? 0 : cache.end(i - 1), cache.end(i));
      chains.add(HexFormat.of().formatHex(chain));
    }
    return chains;
  }
}
