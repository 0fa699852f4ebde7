package dev.kvasir.server;

import dev.kvasir.server.responses.ResponseArchive;
import dev.kvasir.store.prefix.StoredTexts;
import java.util.Optional;

/** Keeps responses in the store of a server. */
record ResponseTexts(StoredTexts texts) implements ResponseArchive {
  @Override
  public void write(String tenant, String id, String text) {
    texts.write(tenant, id, text);
  }

  @Override
  public Optional<String> read(String tenant, String id) {
    return texts.read(tenant, id);
  }

  @Override
  public void delete(String tenant, String id) {
    texts.delete(tenant, id);
  }
}
