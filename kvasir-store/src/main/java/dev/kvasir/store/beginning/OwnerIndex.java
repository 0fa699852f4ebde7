package dev.kvasir.store.beginning;

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
 * Which blobs were stored for whom, so that they can be removed when a conversation is: names of
 * blobs say nothing of it. A record for each owner, text, a line for each blob:
 *
 * <pre>
 * kvasir names 1
 * record ab12…
 * block cd34…
 * </pre>
 *
 * A line that is no name is passed over. Names are added at the end, by as many processes as share
 * a tier: lines may come twice, and the first one again among others. Used by one thread.
 */
final class OwnerIndex {
  private static final String HEADER = "kvasir names 1";

  /** Owners whose last names may still wait to be written. */
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

  /** What any tier knows: another process may have added to what they share. */
  private Set<BlobName> read(BlobName list) {
    Set<BlobName> all = new LinkedHashSet<>(latest.getOrDefault(list, Set.of()));
    store.readFromAllTiers(list).forEach(bytes -> all.addAll(names(bytes)));
    return all;
  }

  static BlobName ownerRecord(String tenant, String owner) {
    // A tenant is empty or hexadecimal digits, so what follows the line is the owner.
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
