package dev.kvasir.spring;

import dev.kvasir.LoadOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.ChatService;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.StoreAddress;
import io.micrometer.observation.ObservationRegistry;
import java.nio.file.Path;
import java.util.Optional;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Loads the model that {@code kvasir.model} names, unless {@code spring.ai.model.chat} selects
 * another provider.
 */
@AutoConfiguration
@ConditionalOnProperty(
    name = SpringAIModelProperties.CHAT_MODEL,
    havingValue = "kvasir",
    matchIfMissing = true)
@EnableConfigurationProperties(KvasirProperties.class)
public class KvasirAutoConfiguration {
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  ChatService kvasirAnswers(KvasirProperties properties) {
    ServerOptions defaults = ServerOptions.defaults();
    ServerOptions options =
        defaults
            .withCacheSpecs(properties.cacheSpecs().stream().map(CacheSpec::parse).toList())
            .withStores(properties.stores().stream().map(StoreAddress::parse).toList());
    if (properties.contextLimit() != null) {
      options = options.withLengths(properties.contextLimit(), defaults.defaultMaxTokens());
    }
    return ChatService.load(
        Optional.ofNullable(properties.model()).map(Path::of),
        load(properties),
        options,
        new ServerLog(System.err));
  }

  private static LoadOptions load(KvasirProperties properties) {
    LoadOptions defaults = LoadOptions.defaults();
    LoadOptions bounded =
        properties.memory().map(size -> defaults.withCacheBytes(size.toBytes())).orElse(defaults);
    return properties.threads() == null ? bounded : bounded.withThreads(properties.threads());
  }

  @Bean
  @ConditionalOnMissingBean
  KvasirSpringChatModel kvasirChatModel(
      ChatService chatService,
      KvasirProperties properties,
      ObjectProvider<ObservationRegistry> registry) {
    return new KvasirSpringChatModel(
        chatService,
        properties.chat().options(),
        registry.getIfUnique(() -> ObservationRegistry.NOOP));
  }
}
