package dev.kvasir.lab.eval;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.Document;
import dev.kvasir.lab.task.Needles;
import dev.kvasir.lab.task.Records;
import dev.kvasir.lab.task.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Creates documents that fill a context without exceeding it. */
final class Passages {
  private static final int SECRET_DIGITS = 5;

  /** Minimum length of prose that can hold facts at several depths. */
  private static final int MIN_CHARS = 200;

  private static final int MIN_ROWS = 6;

  private final Prompts prompts;
  private final EvaluationSettings settings;
  private final int answerTokens;

  Passages(Prompts prompts, EvaluationSettings settings) {
    this.prompts = prompts;
    this.settings = settings;
    // Each digit may take a token, and so may the space before them.
    this.answerTokens = prompts.answerBudget(SECRET_DIGITS + 1);
  }

  /**
   * Returns needle passages of all contexts, the longest first, with as many questions of each
   * length as samples.
   */
  List<Passage> needles(String filler) {
    double charsPerToken = (double) filler.length() / prompts.tokensOf(filler);
    List<Passage> passages = new ArrayList<>();
    for (int context : settings.contexts().reversed()) {
      int chars = (int) (context * charsPerToken);
      int documents = Math.ceilDiv(settings.samples(), Needles.maxFacts(chars));
      for (int i = 0; i < documents; i++) {
        int sample = i;
        int facts = part(i, documents);
        IntFunction<Document> maker =
            size ->
                Needles.document(
                    Seeds.of(settings.seed(), "needle", context, sample), filler, size, facts);
        passages.add(fitting(context, chars, MIN_CHARS, maker));
      }
    }
    return passages;
  }

  /** Returns table passages of all contexts, likewise. */
  List<Passage> records() {
    List<Passage> passages = new ArrayList<>();
    for (int context : settings.contexts().reversed()) {
      int rows = Math.min(Records.maxRows(), context / 8);
      // As many questions as the bundled model was trained to answer after a table.
      int most = Math.max(2, Math.min(24, context / 14 / 3));
      int documents = Math.ceilDiv(settings.samples(), most);
      for (int i = 0; i < documents; i++) {
        int sample = i;
        int questions = part(i, documents);
        IntFunction<Document> maker =
            size ->
                Records.document(
                    Seeds.of(settings.seed(), "records", context, sample), size, questions);
        passages.add(fitting(context, rows, MIN_ROWS, maker));
      }
    }
    return passages;
  }

  /** Returns the number of questions of document {@code index}, spread evenly. */
  private int part(int index, int documents) {
    return settings.samples() * (index + 1) / documents - settings.samples() * index / documents;
  }

  /** Returns the largest document that fits, reducing the size in proportion to the excess. */
  private Passage fitting(int context, int size, int least, IntFunction<Document> maker) {
    for (int wanted = size; wanted >= least; ) {
      Passage passage = Passage.of(maker.apply(wanted), prompts, context, answerTokens);
      if (passage.maxLength() <= context) {
        return passage;
      }
      wanted = Math.min(wanted - 1, (int) ((double) wanted * context / passage.maxLength()));
    }
    throw new InvalidInputException(
        "--context is %d; that is too short for a question with this model's prompt"
            .formatted(context));
  }
}
