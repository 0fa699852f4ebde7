package dev.kvasir.lab.reproduce;

import dev.kvasir.SamplingOptions;
import dev.kvasir.lab.analysis.KeysAndValues;
import dev.kvasir.lab.text.GeneratedText;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The texts that analyses read: pieces of the bundled novel, and continuations by the model. */
final class Texts {
  private static final int FULL_TOKENS = 2048;
  private static final int QUICK_TOKENS = 192;

  /** Characters between the beginnings of pieces. */
  private static final int DISTANCE = 20_011;

  private final Conditions conditions;
  private final int tokens;

  Texts(Conditions conditions) {
    this.conditions = conditions;
    this.tokens = conditions.context(FULL_TOKENS, QUICK_TOKENS);
  }

  int tokens() {
    return tokens;
  }

  /** Returns a piece of the novel; pieces with other numbers start elsewhere. */
  int[] ids(int number, int count) {
    int[] all = conditions.model().tokenizer().encode(Novel.piece(number * DISTANCE, count));
    return Arrays.copyOf(all, Math.min(count, all.length));
  }

  /** Returns the keys and values of a piece; empty if cancelled. */
  Optional<KeysAndValues> read(int number) {
    return KeysAndValues.of(conditions.model(), ids(number, tokens), conditions.listener());
  }

  /** Returns several pieces, each shorter; empty if cancelled. */
  Optional<List<KeysAndValues>> pieces(int count) {
    List<int[]> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(ids(i, Math.max(32, tokens / count)));
    }
    return readAll(all);
  }

  /** Returns sampled continuations of one opening; empty if cancelled. */
  Optional<List<KeysAndValues>> samples(int count) {
    LoadedModel model = conditions.model();
    int length = Math.max(32, tokens / count);
    String opening = model.decode(ids(0, length / 4));
    List<GeneratedText> texts = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        SamplingOptions sampling =
            SamplingOptions.greedy().toBuilder()
                .temperature(1)
                .seed(conditions.request().seed() + i)
                .build();
        texts.add(new GeneratedText(model, length, sampling, opening, () -> Optional.of("\n")));
      }
      GeneratedText.generate(model, texts, step -> {});
      return readAll(texts.stream().map(GeneratedText::tokens).toList());
    } finally {
      texts.forEach(GeneratedText::close);
    }
  }

  private Optional<List<KeysAndValues>> readAll(List<int[]> all) {
    List<KeysAndValues> read = new ArrayList<>();
    for (int[] ids : all) {
      Optional<KeysAndValues> one =
          KeysAndValues.of(conditions.model(), ids, conditions.listener());
      if (one.isEmpty()) {
        return Optional.empty();
      }
      read.add(one.get());
    }
    return Optional.of(read);
  }
}
