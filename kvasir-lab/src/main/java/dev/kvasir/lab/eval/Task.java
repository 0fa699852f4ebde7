package dev.kvasir.lab.eval;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** A column of an evaluation. */
public enum Task {
  /** Perplexity of a text that goes in block by block. */
  PPL(false, Score.Perplexity.class),
  /** Divergence from half precision on the same text. */
  KLD(false, Score.Divergence.class),
  /** The same on a book that people wrote. */
  PROSE(false, Score.Divergence.class),
  /** Divergence along a text that half precision writes, token by token. */
  DRIFT(false, Score.Drift.class),
  /** Secret numbers in running prose. */
  NEEDLE(true, Score.Retrieval.class),
  /** Look-ups in a long table. */
  RECORDS(true, Score.Retrieval.class),
  /** Register programs worked out step by step. */
  CHAIN(true, Score.Chain.class),
  /** Questions of the user's own, answered with a number. */
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

  /** Whether its figure is the distance from half precision, which that has none of. */
  public boolean isDistance() {
    return this == KLD || this == PROSE || this == DRIFT;
  }

  public boolean higherIsBetter() {
    return higherIsBetter;
  }

  /** The name that a user types. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Reads a list as typed: names separated by commas. */
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
      return JSONL; // the best-known file of that form
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
