package dev.kvasir.lab.claim;

import java.util.Optional;

/**
 * A sentence of a paper that can be tried.
 *
 * @param place where the paper says it
 * @param says in our words
 * @param trial what tries it; empty where nothing here can
 * @param because why it fails or cannot be tried here, as far as we know
 */
public record Claim(
    Paper paper, String place, String says, Optional<Trial> trial, Check check, String because) {

  static Claim tried(
      Paper paper, String place, String says, Trial trial, Check check, String because) {
    return new Claim(paper, place, says, Optional.of(trial), check, because);
  }

  static Claim untried(Paper paper, String place, String says, String because) {
    return new Claim(paper, place, says, Optional.empty(), figures -> Finding.NONE, because);
  }
}
