package dev.kvasir.store.prefix;

import dev.kvasir.format.ContentHash;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.tier.BlobName;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Maps an owner to its blobs, so that they can be deleted together with a conversation. Blob names
 * do not reveal their owner. Each owner has one text record with a line for each blob:
 *
 * <pre>
 * kvasir names 1
 * record ab12…
 * block cd34…
 * </pre>
 *
 * Lines that are not blob names are ignored. Processes that share a tier append to the same record,
 * so lines may repeat, the header included. Not thread-safe.
 */
final class OwnerIndex {
  private static final String HEADER = "kvasir names 1";

  /** Owners whose latest names may still be in a write queue. */
  private static final int REMEMBERED = 256;

  private final TieredStore store;
  private final Map<BlobName, Set<BlobName>> latest =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<BlobName, Set<BlobName>> eldest) {
          return size() > REMEMBERED;
        }
      };

  OwnerIndex(TieredStore store) {
    this.store = store;
  }

  void add(String tenant, String owner, List<BlobName> names) {
    BlobName list = ownerRecord(tenant, owner);
    Set<BlobName> all = read(list);
    List<BlobName> added = names.stream().filter(all::add).toList();
    if (!added.isEmpty()) {
      store.append(list, serialize(added));
    }
    latest.put(list, all);
  }

  void delete(String tenant, String owner) {
    BlobName list = ownerRecord(tenant, owner);
    Set<BlobName> all = read(list);
    all.add(list);
    latest.remove(list);
    store.delete(List.copyOf(all));
  }

  /** Merges what all tiers contain, because other processes may have appended to a shared tier. */
  private Set<BlobName> read(BlobName list) {
    Set<BlobName> all = new LinkedHashSet<>(latest.getOrDefault(list, Set.of()));
    store.readFromAllTiers(list).forEach(bytes -> all.addAll(names(bytes)));
    return all;
  }

  static BlobName ownerRecord(String tenant, String owner) {
    // A tenant is empty or hexadecimal, so the text after its line is the owner.
    return BlobName.record(ContentHash.of("kvasir names\n" + tenant + "\n" + owner));
  }

  private static byte[] serialize(List<BlobName> names) {
    StringBuilder text = new StringBuilder(HEADER).append('\n');
    names.forEach(name -> text.append(name).append('\n'));
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static List<BlobName> names(byte[] form) {
    return new String(form, StandardCharsets.UTF_8)
        .lines()
        .flatMap(line -> BlobName.parse(line).stream())
        .toList();
  }
}
