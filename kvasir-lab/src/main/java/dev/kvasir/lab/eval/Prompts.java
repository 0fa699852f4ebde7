package dev.kvasir.lab.eval;

import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import java.util.List;
import java.util.Optional;

/** Creates prompts in the wording of the task or with the model's chat template. */
final class Prompts {
  private final LoadedModel model;
  private final Optional<ChatTemplate> template;

  /**
   * @param bundled whether the model is the one trained on the wording of the tasks
   */
  Prompts(LoadedModel model, boolean bundled) {
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
   * @param text the wording of the task, up to where the answer starts
   * @param instruction the same as an instruction for a chat model
   */
  int[] ids(String text, String instruction) {
    return template
        .map(chat -> chat.render(List.of(Message.user(instruction)), true))
        .map(rendered -> model.tokenizer().encode(rendered, false))
        .orElseGet(() -> model.tokenizer().encode(text));
  }

  /** Returns the maximum tokens of an answer, given the tokens of the shortest correct one. */
  int answerBudget(int tokens) {
    // Chat models greet, explain and repeat the question.
    return useChatTemplate() ? 2 * tokens + 64 : tokens + 4;
  }

  int tokensOf(String text) {
    return model.tokenizer().encode(text, false).length;
  }
}
