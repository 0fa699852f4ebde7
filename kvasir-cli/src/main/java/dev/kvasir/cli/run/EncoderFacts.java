package dev.kvasir.cli.run;

import dev.kvasir.cli.terminal.FactSheet;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.SafetensorsFolder;
import dev.kvasir.format.TensorSource;
import dev.kvasir.runtime.EncoderOutline;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Describes an encoder, which has no KV cache. */
final class EncoderFacts {
  private EncoderFacts() {}

  static void describe(Path fileOrFolder, boolean eachTensor, FactSheet sheet) {
    describe(fileOrFolder, EncoderOutline.of(fileOrFolder), sheet);
    if (Files.isDirectory(fileOrFolder)) {
      try (SafetensorsFolder folder = SafetensorsFolder.open(fileOrFolder)) {
        describe(folder, eachTensor, sheet);
      }
    } else {
      try (GgufFile file = GgufFile.open(fileOrFolder)) {
        describe(file, eachTensor, sheet);
      }
    }
  }

  private static void describe(Path name, EncoderOutline encoder, FactSheet sheet) {
    sheet.line("model", name);
    sheet.line("architecture", encoder.family() + ", an encoder");
    sheet.line("layers", encoder.layers());
    sheet.line(
        "sizes",
        "hidden %s, feed-forward %s"
            .formatted(Units.count(encoder.hidden()), Units.count(encoder.feedForward())));
    sheet.line("heads", encoder.heads());
    sheet.line("text", "at most " + Units.tokens(encoder.maxTokens()));
    sheet.line("tokenizer", "word pieces, %d tokens".formatted(encoder.vocabulary()));
    sheet.line(
        "embeddings",
        "%d dimensions, pooling %s"
            .formatted(encoder.hidden(), encoder.pooling().name().toLowerCase(Locale.ROOT)));
  }

  private static void describe(TensorSource file, boolean eachTensor, FactSheet sheet) {
    TensorList list = new TensorList(file.tensors());
    sheet.line(
        "weights",
        "%s values, %s in the file"
            .formatted(Units.count(list.values()), Units.bytes(list.bytes())));
    if (eachTensor) {
      list.describeEach(sheet);
    } else {
      list.describeTypes(sheet);
    }
  }
}
