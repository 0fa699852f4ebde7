package dev.kvasir.server;

import dev.kvasir.server.responses.ResponseArchive;
import dev.kvasir.store.prefix.ConversationStore;
import java.util.Optional;

/** Keeps responses in the store of a server. */
record ResponseTexts(ConversationStore store) implements ResponseArchive {
  @Override
  public void write(String tenant, String id, String text) {
    store.texts().write(tenant, id, text);
  }

  @Override
  public Optional<String> read(String tenant, String id) {
    return store.texts().read(tenant, id);
  }

  @Override
  public void delete(String tenant, String id) {
    store.texts().delete(tenant, id);
  }
}
