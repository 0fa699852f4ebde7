package dev.kvasir.bench;

import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A prompt with a given number of tokens for all engines: lines of words and numbers, the same in
 * every run.
 */
record BenchPrompt(String text, int[] ids) {
  private static final String[] WORDS = {
    "amber", "bridge", "castle", "dawn", "eagle", "forest", "garden", "harbor", "island", "jewel",
    "kettle", "lantern", "meadow", "needle", "orchard", "pebble", "quill", "river", "stone", "tower"
  };

  static BenchPrompt of(Tokenizer tokenizer, int tokens) {
    SplittableRandom random = new SplittableRandom(1);
    StringBuilder text = new StringBuilder("Records:\n");
    while (tokenizer.encode(text.toString()).length < tokens) {
      text.append(WORDS[random.nextInt(WORDS.length)])
          .append('-')
          .append(WORDS[random.nextInt(WORDS.length)])
          .append(": ")
          .append(random.nextInt(1000, 10_000))
          .append('\n');
    }
    int[] ids = Arrays.copyOf(tokenizer.encode(text.toString()), tokens);
    return new BenchPrompt(tokenizer.decode(ids, true), ids);
  }
}
