package dev.kvasir.spring;

import dev.kvasir.ChatModel;
import dev.kvasir.LoadOptions;
import dev.kvasir.ToolFormat;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

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
  ChatModel kvasirChat(KvasirProperties properties) {
    ChatModel.Builder builder =
        ChatModel.builder()
            .loadOptions(load(properties))
            .cache(properties.cacheSpecs().toArray(String[]::new));
    if (properties.model() != null) {
      builder.model(properties.model());
    }
    if (properties.contextLimit() != null) {
      builder.contextLimit(properties.contextLimit());
    }
    if (!properties.stores().isEmpty()) {
      builder.store(properties.stores().toArray(String[]::new));
    }
    if (properties.toolFormat() != null) {
      builder.toolFormat(ToolFormat.parse(properties.toolFormat()));
    }
    return builder.build();
  }

  private static LoadOptions load(KvasirProperties properties) {
    LoadOptions.Builder options = LoadOptions.builder();
    properties.memory().ifPresent(size -> options.cacheMemory(size.toBytes()));
    if (properties.threads() != null) {
      options.threads(properties.threads());
    }
    return options.build();
  }

  /** Spring Boot binds the meters to its registry, if the application has Micrometer's core. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "io.micrometer.core.instrument.binder.MeterBinder")
  static class Meters {
    @Bean
    @ConditionalOnMissingBean
    KvasirMeters kvasirMeters(ChatModel chatModel) {
      return new KvasirMeters(chatModel);
    }
  }

  @Bean
  @ConditionalOnMissingBean
  KvasirSpringChatModel kvasirChatModel(
      ChatModel chatModel,
      KvasirProperties properties,
      ObjectProvider<ObservationRegistry> registry) {
    return new KvasirSpringChatModel(
        chatModel,
        properties.chat().options(),
        registry.getIfUnique(() -> ObservationRegistry.NOOP));
  }
}
