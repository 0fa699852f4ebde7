package dev.kvasir.spring;

import dev.kvasir.Embedder;
import dev.kvasir.LoadOptions;
import org.springframework.ai.model.SpringAIModelProperties;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Loads the model that {@code kvasir.embedding.model} names, unless {@code
 * spring.ai.model.embedding} selects another provider.
 */
@AutoConfiguration
@ConditionalOnProperty(
    name = SpringAIModelProperties.EMBEDDING_MODEL,
    havingValue = "kvasir",
    matchIfMissing = true)
@EnableConfigurationProperties(KvasirProperties.class)
public class KvasirEmbeddingAutoConfiguration {
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  @ConditionalOnProperty("kvasir.embedding.model")
  KvasirSpringEmbeddingModel kvasirEmbeddingModel(KvasirProperties properties) {
    LoadOptions.Builder options = LoadOptions.builder();
    if (properties.threads() != null) {
      options.threads(properties.threads());
    }
    KvasirProperties.Embedding wanted = properties.embedding();
    Embedder embedder =
        wanted.pooling() == null
            ? Embedder.load(wanted.model(), options.build())
            : Embedder.load(wanted.model(), options.build(), wanted.pooling());
    return wanted.dimensions() == null
        ? new KvasirSpringEmbeddingModel(embedder)
        : new KvasirSpringEmbeddingModel(embedder, wanted.dimensions());
  }
}
