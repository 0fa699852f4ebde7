package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import java.util.List;
import java.util.Optional;

/** How a model is asked: with the task's own words, or through the model's chat template. */
final class Prompts {
  private final Model model;
  private final Optional<ChatTemplate> template;

  /**
   * @param bundled whether the model is the one that was trained on the tasks' own words
   */
  Prompts(Model model, boolean bundled) {
    this.model = model;
    this.template =
        bundled || model.tokenizer().chatTemplate().isEmpty()
            ? Optional.empty()
            : Optional.of(model.chatTemplate());
  }

  boolean useChatTemplate() {
    return template.isPresent();
  }

  /**
   * @param text the task's own words, up to where the answer begins
   * @param instruction the same, as a user would ask
   */
  int[] ids(String text, String instruction) {
    return template
        .map(chat -> chat.render(List.of(Message.user(instruction)), true))
        .map(rendered -> model.tokenizer().encode(rendered, false))
        .orElseGet(() -> model.tokenizer().encode(text));
  }

  /** Tokens that an answer may take, given how many the shortest right one takes. */
  int answerBudget(int tokens) {
    // Chat models greet, explain and repeat the question.
    return useChatTemplate() ? 2 * tokens + 64 : tokens + 4;
  }

  int tokensOf(String text) {
    return model.tokenizer().encode(text, false).length;
  }
}
