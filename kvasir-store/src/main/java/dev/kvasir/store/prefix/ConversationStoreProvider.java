package dev.kvasir.store.prefix;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.spi.PrefixStore;
import dev.kvasir.spi.PrefixStoreProvider;
import dev.kvasir.store.StoreAddress;
import java.util.List;
import java.util.function.Consumer;

/** Opens a {@link ConversationStore} for a chat model. */
public final class ConversationStoreProvider implements PrefixStoreProvider {
  @Override
  public void checkAddress(String address) {
    StoreAddress.parse(address);
  }

  @Override
  public PrefixStore open(
      LoadedModel model,
      List<String> addresses,
      List<CacheSpec> cacheSpecs,
      int contextLimit,
      Consumer<String> log) {
    List<StoreAddress> parsed = addresses.stream().map(StoreAddress::parse).toList();
    return ConversationStore.open(model, parsed, cacheSpecs, contextLimit, log);
  }
}
