package dev.kvasir.lab.mead;

import dev.kvasir.lab.task.RandomNames;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.text.Tokenizer;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Documents with questions of two kinds that calibration texts never contain: the number in a named
 * line, and the value of a key in a JSON object. A profile is tested on them.
 */
final class HeldOutTexts {
  private static final String PURPOSE = "mead-held-out";

  /** Fraction of a text that is the document; questions take the rest. */
  private static final double DOCUMENT = 0.6;

  /** Values have four digits. */
  private static final int MIN_VALUE = 1_000;

  private static final int MAX_VALUE = 10_000;

  /** How a kind writes an entry, and asks for one. */
  private enum Kind {
    LINES("Each line below holds a number.") {
      @Override
      String entry(String name, String value) {
        return "\nline %s: the number is %s".formatted(name, value);
      }

      @Override
      String question(String name) {
        return "\nQuestion: What is the number in line %s?\nAnswer:".formatted(name);
      }
    },

    PAIRS("A JSON object follows.\n{") {
      @Override
      String entry(String name, String value) {
        return "\"%s\": %s, ".formatted(name, value);
      }

      @Override
      String question(String name) {
        return "\nQuestion: Which number has the key %s?\nAnswer:".formatted(name);
      }
    };

    private final String opening;

    Kind(String opening) {
      this.opening = opening;
    }

    abstract String entry(String name, String value);

    abstract String question(String name);
  }

  private final Tokenizer tokenizer;
  private final int length;
  private final long seed;

  /**
   * @param length tokens of a text
   */
  HeldOutTexts(Tokenizer tokenizer, int length, long seed) {
    this.tokenizer = tokenizer;
    this.length = length;
    this.seed = seed;
  }

  /** Returns a text, the kinds in turn. */
  MarkedText text(int index) {
    Kind kind = Kind.values()[index % Kind.values().length];
    RandomGenerator random = Seeds.of(seed, PURPOSE, length, index);
    List<String> names = RandomNames.distinct(random, length); // more than fit
    MarkedTextWriter writer = new MarkedTextWriter(tokenizer, length);
    writer.add(kind.opening, false);
    int entries = 0;
    String[] values = new String[length / 2];
    while (writer.length() < DOCUMENT * length) {
      values[entries] = String.valueOf(random.nextInt(MIN_VALUE, MAX_VALUE));
      writer.add(kind.entry(names.get(entries), values[entries]), false);
      entries++;
    }
    while (!writer.isFull()) {
      int asked = random.nextInt(entries);
      writer.add(kind.question(names.get(asked)), false);
      writer.add(" " + values[asked], true);
    }
    return writer.text();
  }
}
