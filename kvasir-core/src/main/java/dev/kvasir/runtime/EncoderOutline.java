package dev.kvasir.runtime;

import dev.kvasir.Embedder.Pooling;
import dev.kvasir.encoder.BertConfig;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.JsonFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the files state about an encoder, without its weights.
 *
 * @param family its name on Hugging Face
 * @param maxTokens maximum tokens of a text
 * @param pooling how a text's vector is made of those of its tokens
 */
public record EncoderOutline(
    String family,
    int layers,
    int hidden,
    int feedForward,
    int heads,
    int vocabulary,
    int maxTokens,
    Pooling pooling) {
  /** Returns the outline of an encoder ({@link LoadedEncoder#isAt}). */
  public static EncoderOutline of(Path fileOrFolder) {
    Pooling pooling = EmbedderLoader.stated(fileOrFolder);
    if (Files.isDirectory(fileOrFolder)) {
      BertConfig config = BertConfig.of(JsonFile.read(fileOrFolder.resolve(EncoderModel.CONFIG)));
      return of(config, EncoderModel.trainedTokens(fileOrFolder), pooling);
    }
    try (GgufFile file = GgufFile.open(fileOrFolder)) {
      return of(BertConfig.of(file), Integer.MAX_VALUE, pooling);
    }
  }

  private static EncoderOutline of(BertConfig config, int trainedTokens, Pooling pooling) {
    return new EncoderOutline(
        config.family().modelType(),
        config.layers(),
        config.hidden(),
        config.feedForward(),
        config.heads(),
        config.vocabulary(),
        Math.min(config.positions(), trainedTokens),
        pooling);
  }
}
