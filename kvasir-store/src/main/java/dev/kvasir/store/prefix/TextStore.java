package dev.kvasir.store.prefix;

import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredStore;
import java.util.List;
import java.util.function.Consumer;

/** A store of texts alone, for a server whose conversations are stored model by model. */
public final class TextStore implements AutoCloseable {
  private final TieredStore store;
  private final StoredTexts texts;

  private TextStore(TieredStore store) {
    this.store = store;
    this.texts = new StoredTexts(store);
  }

  /**
   * @param log receives a sentence when a tier fails
   * @throws dev.kvasir.error.InvalidInputException if a store cannot be written to
   */
  public static TextStore open(List<StoreAddress> addresses, Consumer<String> log) {
    addresses.forEach(StoreAddress::check);
    return new TextStore(TieredStore.open(addresses, log));
  }

  public StoredTexts texts() {
    return texts;
  }

  /** Finishes pending writes within {@link ConversationStore#CLOSING_TIME}. */
  @Override
  public void close() {
    store.close(ConversationStore.CLOSING_TIME);
  }
}
