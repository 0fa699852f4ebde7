package dev.kvasir.family;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The results of llama.cpp for a model; see {@code golden/README.md}.
 *
 * @param crc of the file given to llama.cpp
 * @param logits of each token
 * @param greedy continuation after the first {@link #GREEDY_AFTER} tokens
 */
record FamilyGolden(String crc, float[][] logits, int[] greedy) {
  static final int GREEDY_AFTER = 16;

  /** The sequence limit given to llama.cpp, which matters for LongRoPE. */
  static final int CONTEXT_LIMIT = 256;

  private static final Path FOLDER = Path.of("golden");

  static int[] tokens() {
    return ids(read("tokens.txt").strip().split(" "), 0);
  }

  static FamilyGolden of(Family family) {
    String[] words =
        read("greedy.txt")
            .lines()
            .map(line -> line.split(" "))
            .filter(line -> line[0].equals(family.fileName()))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("greedy.txt does not name " + family));
    return new FamilyGolden(words[1], NpyRows.read(FOLDER.resolve(family + ".npy")), ids(words, 2));
  }

  private static int[] ids(String[] words, int from) {
    return Arrays.stream(words).skip(from).mapToInt(Integer::parseInt).toArray();
  }

  private static String read(String file) {
    try {
      return Files.readString(FOLDER.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
