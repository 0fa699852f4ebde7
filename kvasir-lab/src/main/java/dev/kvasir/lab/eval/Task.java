package dev.kvasir.lab.eval;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** A column of an evaluation. */
public enum Task {
  /** Perplexity of a text that goes in block by block. */
  PPL(false),
  /** Divergence from half precision on the same text. */
  KLD(false),
  /** Secret numbers in running prose. */
  NEEDLE(true),
  /** Look-ups in a long table. */
  RECORDS(true),
  /** Register programs worked out step by step. */
  CHAIN(true),
  /** Questions of the user's own, answered with a number. */
  JSONL(true);

  private final boolean higherIsBetter;

  Task(boolean higherIsBetter) {
    this.higherIsBetter = higherIsBetter;
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
                    "the task '%s' is unknown; known are ppl, kld, needle, records, chain, jsonl"
                        .formatted(name)));
  }
}
