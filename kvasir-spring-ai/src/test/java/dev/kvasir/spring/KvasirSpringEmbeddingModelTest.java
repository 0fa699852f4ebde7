package dev.kvasir.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Embedder;
import dev.kvasir.Embedder.Pooling;
import dev.kvasir.LoadOptions;
import java.nio.file.Path;
import java.util.List;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingOptions;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The embedding model, as Spring Boot configures it. */
class KvasirSpringEmbeddingModelTest {
  @ImportAutoConfiguration(KvasirEmbeddingAutoConfiguration.class)
  static class Application {}

  private static ConfigurableApplicationContext start(String... arguments) {
    return new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .logStartupInfo(false)
        .run(arguments);
  }

  @Test
  void vectorsAreThoseOfTheEmbedder(@TempDir Path folder) {
    Path file = ShallowModel.write(folder.resolve("model.gguf"));
    try (ConfigurableApplicationContext context =
            start(
                "--kvasir.embedding.model=" + file,
                "--kvasir.embedding.pooling=last",
                "--kvasir.embedding.dimensions=16",
                "--kvasir.threads=1");
        Embedder embedder = Embedder.load(file.toString(), options(), Pooling.LAST)) {
      EmbeddingModel model = context.getBean(EmbeddingModel.class);
      Embedder.Embedding whole = embedder.embed("The sea.");
      assertThat(model.embed("The sea.")).isEqualTo(whole.truncated(16).vector());
      assertThat(model.embed(new Document("The sea."))).isEqualTo(model.embed("The sea."));
      assertThat(model.dimensions()).isEqualTo(16);
      EmbeddingOptions all = EmbeddingOptions.builder().dimensions(embedder.dimensions()).build();
      EmbeddingResponse response =
          model.call(new EmbeddingRequest(List.of("The shore.", "The sea."), all));
      assertThat(response.getResults().get(1).getOutput()).isEqualTo(whole.vector());
      assertThat(response.getMetadata().getUsage().getPromptTokens())
          .isEqualTo(whole.tokens() + embedder.embed("The shore.").tokens());
    }
  }

  private static LoadOptions options() {
    return LoadOptions.builder().threads(1).build();
  }

  @Test
  void withoutAModelThereIsNoBean() {
    try (ConfigurableApplicationContext context = start()) {
      assertThat(context.getBeansOfType(EmbeddingModel.class)).isEmpty();
    }
  }
}
