package dev.kvasir.family;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes the models to a folder: {@code NAME.gguf} for llama.cpp, and {@code NAME} in the layout of
 * Hugging Face.
 */
final class FamilyFiles {
  private FamilyFiles() {}

  public static void main(String... arguments) throws IOException {
    Path folder = Files.createDirectories(Path.of(arguments[0]));
    for (Family family : Family.values()) {
      family.modelForLlamaCpp().writeGguf(folder.resolve(family + ".gguf"));
      family.model().writeFolder(folder.resolve(family.fileName()));
    }
    GptOss.withMxfp4(Family.GPT_OSS.fileName()).writeFolder(folder.resolve("gpt-oss-mxfp4"));
  }
}
