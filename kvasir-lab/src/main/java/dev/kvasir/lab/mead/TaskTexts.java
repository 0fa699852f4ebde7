package dev.kvasir.lab.mead;

import dev.kvasir.lab.task.Chain;
import dev.kvasir.lab.task.Document;
import dev.kvasir.lab.task.Needles;
import dev.kvasir.lab.task.Question;
import dev.kvasir.lab.task.Records;
import dev.kvasir.lab.task.Seeds;
import dev.kvasir.text.Tokenizer;
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
    MarkedTextWriter writer = new MarkedTextWriter(tokenizer, length);
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

  private static void ask(MarkedTextWriter writer, Document document) {
    writer.add(document.text(), false);
    for (Question question : document.questions()) {
      writer.add(question.text(), false);
      writer.add(" " + question.answer(), true);
    }
    writer.add("\n\n", false);
  }

  private static void solve(MarkedTextWriter writer, Chain chain) {
    writer.add(chain.problem(), false);
    List<String> lines = chain.solution();
    writer.add(String.join("\n", lines), true);
    writer.add("\n\n", false);
  }
}
