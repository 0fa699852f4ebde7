package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.Embedder;
import dev.kvasir.Embedder.Pooling;
import dev.kvasir.GenerateOptions;
import dev.kvasir.Session;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Embeddings of a decoder are its hidden states. */
class DecoderEmbedderTest {
  private static final String TEXT = "Call me Ishmael. Some years ago";

  @Test
  void theLastVectorPointsToTheNextToken() {
    try (LoadedModel model = LoadedModel.bundled();
        Embedder embedder = Embedder.of(model, Pooling.LAST);
        Session session = model.newSession()) {
      String next =
          session
              .generate(TEXT, GenerateOptions.builder().temperature(0).maxTokens(1).build())
              .text();
      int likeliest = likeliest(model, embedder.embed(TEXT).vector());
      assertThat(model.decode(likeliest)).isEqualTo(next);
    }
  }

  /** The length of the vector does not change which logit is the largest. */
  private static int likeliest(LoadedModel model, float[] vector) {
    Matrix output = model.weights().output();
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    float[] row = new float[vector.length];
    int best = 0;
    double most = Double.NEGATIVE_INFINITY;
    for (int token = 0; token < output.rows(); token++) {
      kernels.expand(output, token, 1, row, 0);
      double logit = dot(row, vector);
      if (logit > most) {
        most = logit;
        best = token;
      }
    }
    return best;
  }

  private static double dot(float[] a, float[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  @Test
  void textsOfSeveralStepsHaveVectorsOfLengthOne(@TempDir Path folder) {
    Path file = ShallowModel.write(folder.resolve("shallow.gguf"));
    try (LoadedModel model = LoadedModel.load(file)) {
      String text = TEXT.repeat(40);
      for (Pooling pooling : Pooling.values()) {
        try (Embedder embedder = Embedder.of(model, pooling)) {
          Embedder.Embedding embedding = embedder.embed(text);
          assertThat(embedding.tokens()).isGreaterThan(256);
          assertThat(dot(embedding.vector(), embedding.vector())).isCloseTo(1, within(1e-5));
          assertThat(embedder.embed(text).vector()).isEqualTo(embedding.vector());
        }
      }
      assertThat(model.encode(TEXT)).isNotEmpty(); // the model stays open
    }
  }

  @Test
  void anEmptyTextIsRefused() {
    try (LoadedModel model = LoadedModel.bundled();
        Embedder embedder = Embedder.of(model, Pooling.MEAN)) {
      assertThatThrownBy(() -> embedder.embed(""))
          .hasMessage("the text is empty; expected at least one token");
    }
  }
}
