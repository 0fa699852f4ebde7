package dev.kvasir.lab.eval;

import java.io.Serializable;

/** What a model reads, and then writes an answer to. */
interface Asked extends Serializable {
  int[] prompt();

  /** Of an answer. */
  int mostTokens();

  default double work() {
    return Pace.reading(0, prompt().length) + Pace.writing(prompt().length, mostTokens());
  }

  /** With the longest answer. */
  default int tokens() {
    return prompt().length + mostTokens();
  }
}
