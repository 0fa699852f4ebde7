package dev.kvasir.lab.eval;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** An evaluation task, a column of the results. */
public enum Task {
  /** Perplexity of a text that is read block by block. */
  PPL(false, Score.Perplexity.class),
  /** Divergence from fp16 on the same text. */
  KLD(false, Score.Divergence.class),
  /** Divergence from fp16 on a novel. */
  PROSE(false, Score.Divergence.class),
  /** Divergence along a text that fp16 generates, token by token. */
  DRIFT(false, Score.Drift.class),
  /** Secret numbers in running prose. */
  NEEDLE(true, Score.Retrieval.class),
  /** Look-ups in a long table. */
  RECORDS(true, Score.Retrieval.class),
  /** Register programs executed step by step. */
  CHAIN(true, Score.Chain.class),
  /** The user's own questions with numeric answers. */
  JSONL(true, Score.Answers.class);

  private final boolean higherIsBetter;
  private final Class<? extends Score> scoreType;

  Task(boolean higherIsBetter, Class<? extends Score> scoreType) {
    this.higherIsBetter = higherIsBetter;
    this.scoreType = scoreType;
  }

  Class<? extends Score> scoreType() {
    return scoreType;
  }

  /** Returns whether the score is a distance from fp16, which fp16 itself lacks. */
  public boolean isDistance() {
    return this == KLD || this == PROSE || this == DRIFT;
  }

  /** Returns whether the model answers questions, which it can do several times. */
  public boolean hasAnswers() {
    return higherIsBetter;
  }

  public boolean higherIsBetter() {
    return higherIsBetter;
  }

  /** Returns the name of the task on the command line. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Parses a comma-separated list of task names. */
  public static Set<Task> parse(String list) {
    Set<Task> tasks = EnumSet.noneOf(Task.class);
    for (String name : list.split(",", -1)) {
      tasks.add(named(name.strip()));
    }
    return tasks;
  }

  private static String labels() {
    return Arrays.stream(values()).map(Task::label).collect(Collectors.joining(", "));
  }

  private static Task named(String name) {
    if (name.equals("gsm8k")) {
      return JSONL; // the best-known file in this format
    }
    return Arrays.stream(values())
        .filter(task -> task.label().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the task '%s' is unknown; known are %s".formatted(name, labels())));
  }
}
