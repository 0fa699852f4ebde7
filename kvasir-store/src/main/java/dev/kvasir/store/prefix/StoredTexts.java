package dev.kvasir.store.prefix;

import dev.kvasir.format.ContentHash;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.TieredStore.LocatedBlob;
import dev.kvasir.store.tier.BlobName;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Texts that a server keeps with its conversations, such as responses that a client may continue.
 * Each is one record: a line with the hash of the text, and the text. A damaged record counts as
 * missing and is deleted. Texts leave the store as other records do: when they expire or when space
 * is needed. Thread-safe.
 */
public final class StoredTexts {
  private static final String HEADER = "kvasir text 1 ";
  private static final int HEADER_LENGTH = HEADER.length() + 2 * BlobName.BYTES + 1;

  private final TieredStore store;

  StoredTexts(TieredStore store) {
    this.store = store;
  }

  /** Writes a text in the background. */
  public void write(String tenant, String name, String text) {
    store.write(record(tenant, name), serialize(text).getBytes(StandardCharsets.UTF_8));
  }

  private static String serialize(String text) {
    return HEADER + HexFormat.of().formatHex(ContentHash.of(text)) + "\n" + text;
  }

  /** Returns a text; waits for each tier at most as long as its reads may take. */
  public Optional<String> read(String tenant, String name) {
    BlobName record = record(tenant, name);
    LocatedBlob found = store.read(List.of(record)).get(record);
    if (found == null) {
      return Optional.empty();
    }
    String form = new String(found.toArray(), StandardCharsets.UTF_8);
    String text = form.length() < HEADER_LENGTH ? "" : form.substring(HEADER_LENGTH);
    if (!form.equals(serialize(text))) {
      store.deleteDamaged(found);
      return Optional.empty();
    }
    store.markVerified(List.of(found));
    return Optional.of(text);
  }

  public void delete(String tenant, String name) {
    store.delete(List.of(record(tenant, name)));
  }

  private static BlobName record(String tenant, String name) {
    // A tenant is empty or hexadecimal, so the text after its line is the name.
    return BlobName.record(ContentHash.of("kvasir text\n" + tenant + "\n" + name));
  }
}
