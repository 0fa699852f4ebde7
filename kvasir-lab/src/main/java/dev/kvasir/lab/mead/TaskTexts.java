package dev.kvasir.lab.mead;

import dev.kvasir.lab.task.Chain;
import dev.kvasir.lab.task.Document;
import dev.kvasir.lab.task.Needles;
import dev.kvasir.lab.task.Question;
import dev.kvasir.lab.task.Records;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Documents with questions and programs with solutions, with answers marked. They never coincide
 * with documents of an evaluation, because the random generators depend on their purpose.
 */
final class TaskTexts {
  private static final String PURPOSE = "mead";
  private static final int QUESTIONS = 6;
  private static final int ROWS = 60;
  private static final int STEPS = 40;

  /** Characters of prose per token of a text; the rest is for facts and questions. */
  private static final double CHARS_PER_TOKEN = 2.5;

  private final Tokenizer tokenizer;
  private final String filler;
  private final int length;
  private final long seed;

  /**
   * @param filler prose that hides the facts
   * @param length maximum tokens of a text
   */
  TaskTexts(Tokenizer tokenizer, String filler, int length, long seed) {
    this.tokenizer = tokenizer;
    this.filler = filler;
    this.length = length;
    this.seed = seed;
  }

  /** Returns, in turn, facts in prose, a table with a program, and programs. */
  MarkedText text(int index) {
    RandomGenerator random = Seeds.of(seed, PURPOSE, length, index);
    Writer writer = new Writer();
    while (!writer.isFull()) {
      switch (index % 3) {
        case 0 -> {
          int chars = (int) (length * CHARS_PER_TOKEN);
          ask(
              writer,
              Needles.document(
                  random, filler, chars, Math.min(QUESTIONS, Needles.maxFacts(chars))));
        }
        case 1 -> {
          ask(writer, Records.document(random, ROWS, QUESTIONS));
          solve(writer, Chain.draw(random, STEPS / 2));
        }
        default -> solve(writer, Chain.draw(random, STEPS));
      }
    }
    return writer.text();
  }

  private static void ask(Writer writer, Document document) {
    writer.add(document.text(), false);
    for (Question question : document.questions()) {
      writer.add(question.text(), false);
      writer.add(" " + question.answer(), true);
    }
    writer.add("\n\n", false);
  }

  private static void solve(Writer writer, Chain chain) {
    writer.add(chain.problem(), false);
    List<String> lines = chain.solution();
    writer.add(String.join("\n", lines), true);
    writer.add("\n\n", false);
  }

  /** Concatenates pieces until the text is full. */
  private final class Writer {
    private final int[] tokens = new int[length];
    private final boolean[] answers = new boolean[length];
    private int end;

    void add(String piece, boolean isAnswer) {
      for (int id : tokenizer.encode(piece, false)) {
        if (end < length) {
          tokens[end] = id;
          answers[end] = isAnswer;
          end++;
        }
      }
    }

    boolean isFull() {
      return end == length;
    }

    MarkedText text() {
      return new MarkedText(Arrays.copyOf(tokens, end), Arrays.copyOf(answers, end));
    }
  }
}
