package dev.kvasir.chat.syntax;

import java.util.List;
import java.util.Optional;

/**
 * The texts around reasoning.
 *
 * @param open texts that begin it
 * @param close texts that end it
 */
public record ReasoningTags(List<String> open, List<String> close) {
  static final ReasoningTags THINK = tags("<think>", "</think>");

  /** Of Granite 3.2, which writes sentences. */
  static final ReasoningTags GRANITE =
      new ReasoningTags(
          List.of("Here is my thought process:", "Here's my thought process:"),
          List.of("Here is my response:", "Here's my response:"));

  private static final List<ReasoningTags> BY_TAG =
      List.of(
          tags("[THINK]", "[/THINK]"),
          tags("<|START_THINKING|>", "<|END_THINKING|>"),
          tags("<seed:think>", "</seed:think>"),
          tags("◁think▷", "◁/think▷"),
          tags("<|channel>thought", "<channel|>")); // Gemma 4

  private static ReasoningTags tags(String open, String close) {
    return new ReasoningTags(List.of(open), List.of(close));
  }

  /** Returns the tags that a chat template has, or those of most models. */
  static ReasoningTags recognize(String template) {
    if (template.contains("Here is my thought process")) {
      return GRANITE;
    }
    return BY_TAG.stream()
        .filter(tags -> template.contains(tags.open.getFirst()))
        .findFirst()
        .orElse(THINK);
  }

  /** Returns the opening text that a prompt ends with. */
  public Optional<String> openedBy(String prompt) {
    String end = prompt.stripTrailing();
    return open.stream().filter(end::endsWith).findFirst();
  }
}
