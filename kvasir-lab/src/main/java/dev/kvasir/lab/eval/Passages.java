package dev.kvasir.lab.eval;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.task.Document;
import dev.kvasir.lab.task.Needles;
import dev.kvasir.lab.task.Records;
import dev.kvasir.lab.task.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Makes documents that fill a context and do not run over. */
final class Passages {
  private static final int SECRET_DIGITS = 5;

  /** Prose below this length has no room for facts and depths. */
  private static final int FEWEST_CHARS = 200;

  private static final int FEWEST_ROWS = 6;

  private final Prompts prompts;
  private final EvaluationSettings settings;
  private final int answerTokens;

  Passages(Prompts prompts, EvaluationSettings settings) {
    this.prompts = prompts;
    this.settings = settings;
    // A digit may take a token, and the space before them another.
    this.answerTokens = prompts.answerBudget(SECRET_DIGITS + 1);
  }

  /** Passages of all contexts, the longest first, with as many questions of each as samples. */
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
        passages.add(fitting(context, chars, FEWEST_CHARS, maker));
      }
    }
    return passages;
  }

  /** The same of tables. */
  List<Passage> records() {
    List<Passage> passages = new ArrayList<>();
    for (int context : settings.contexts().reversed()) {
      int rows = Math.min(Records.maxRows(), context / 8);
      // As many as the bundled model was trained to answer after a table.
      int most = Math.max(2, Math.min(24, context / 14 / 3));
      int documents = Math.ceilDiv(settings.samples(), most);
      for (int i = 0; i < documents; i++) {
        int sample = i;
        int questions = part(i, documents);
        IntFunction<Document> maker =
            size ->
                Records.document(
                    Seeds.of(settings.seed(), "records", context, sample), size, questions);
        passages.add(fitting(context, rows, FEWEST_ROWS, maker));
      }
    }
    return passages;
  }

  /** Questions of document {@code index}, so that they are spread evenly. */
  private int part(int index, int documents) {
    return settings.samples() * (index + 1) / documents - settings.samples() * index / documents;
  }

  /** The largest document that fits, found by shrinking a too large one by what it is over. */
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
