package dev.kvasir.grammar;

import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.SyntheticTokenizer;
import dev.kvasir.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Prints the time to compute masks for a large vocabulary; it asserts no times. */
@Tag("thorough")
class MaskTimeTest {
  private static final int TOKENS = 150_000;
  private static final int ROUNDS = 31;

  @Test
  void timesOfMasks() {
    Tokenizer tokenizer = SyntheticTokenizer.of(words());
    float[] logits = new float[tokenizer.vocabularySize()];
    long trie = nanos(() -> TokenTrie.of(tokenizer));
    System.out.printf("trie of %d tokens: %.0f ms%n", logits.length, trie / 1e6);
    print("any object, first", JsonGrammar.anyObject(), "", tokenizer);
    print("any object, in a string", JsonGrammar.anyObject(), "{\"", tokenizer);
    print("a string of up to 500", of("{'maxLength': 500}"), "\"ab", tokenizer);
    print("a pattern", of("{'pattern': '^([A-Z][a-z]+ ?){1,5}$'}"), "\"", tokenizer);
    print("a number", of("{'minimum': -3.5, 'maximum': 1e6}"), "-", tokenizer);
    print("a name of four", of("{'enum': ['red', 'green', 'blue', 'grey']}"), "\"", tokenizer);
  }

  private static Grammar of(String schema) {
    return JsonGrammar.of(AcceptedTexts.schema(schema));
  }

  private static void print(String what, Grammar grammar, String prefix, Tokenizer tokenizer) {
    float[] logits = new float[tokenizer.vocabularySize()];
    List<Long> fresh = new ArrayList<>();
    List<Long> cached = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      TokenGrammar over = grammar.forTokenizer(tokenizer);
      TokenConstraint constraint = over.constraint();
      for (byte value : prefix.getBytes(StandardCharsets.UTF_8)) {
        constraint.accept(SyntheticTokenizer.FIRST_BYTE + value);
      }
      fresh.add(nanos(() -> constraint.mask(logits, 0, logits.length)));
      for (int again = 0; again < 50; again++) {
        cached.add(nanos(() -> constraint.mask(logits, 0, logits.length)));
      }
    }
    System.out.printf(
        "%-24s fresh %6.2f ms, first fresh %6.2f ms, cached %6.1f us%n",
        what, median(fresh) / 1e6, fresh.getFirst() / 1e6, median(cached) / 1e3);
  }

  private static long median(List<Long> times) {
    return times.stream().sorted().toList().get(times.size() / 2);
  }

  private static long nanos(Runnable work) {
    long start = System.nanoTime();
    work.run();
    return System.nanoTime() - start;
  }

  /** Returns synthetic words, half of them after a space, a tenth with 3-byte characters. */
  private static List<byte[]> words() {
    Random random = new Random(1);
    Set<String> words = new LinkedHashSet<>();
    while (words.size() < TOKENS) {
      StringBuilder word = new StringBuilder(random.nextBoolean() ? " " : "");
      boolean wide = random.nextInt(10) == 0;
      for (int i = wide ? 1 + random.nextInt(3) : 1 + random.nextInt(9); i > 0; i--) {
        double skewed = random.nextDouble() * random.nextDouble();
        word.appendCodePoint(wide ? 0x4E00 + (int) (3000 * skewed) : 'a' + (int) (26 * skewed));
      }
      words.add(word.append(random.nextInt(50) == 0 ? "\"" : "").toString());
    }
    return words.stream().map(word -> word.getBytes(StandardCharsets.UTF_8)).toList();
  }
}
