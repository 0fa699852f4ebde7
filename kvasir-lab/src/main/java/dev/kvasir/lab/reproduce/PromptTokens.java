package dev.kvasir.lab.reproduce;

import dev.kvasir.lab.dataset.Item;
import dev.kvasir.lab.eval.GenerationRequest;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.text.Message;
import java.io.Serializable;
import java.util.List;
import java.util.function.Predicate;

/** Turns items into requests that fit the model's context. */
final class PromptTokens {
  private final LoadedModel model;
  private final boolean template;
  private int shortened;

  /**
   * @param bundled whether the model is the bundled one, whose template is not for instructions
   */
  PromptTokens(LoadedModel model, boolean bundled) {
    this.model = model;
    this.template = !bundled && model.tokenizer().chatTemplate().isPresent();
  }

  /** Returns how many prompts were too long and lost their middle. */
  int shortened() {
    return shortened;
  }

  /** Returns a request; a prompt that is too long loses its middle, as in LongBench. */
  GenerationRequest request(Item item) {
    int[] ids = ids(item);
    int context = model.config().contextLength();
    int answer = Math.min(item.maxTokens(), Math.max(1, context / 2));
    int room = context - answer;
    if (ids.length > room) {
      shortened++;
      ids = withoutMiddle(ids, room);
    }
    int most = Math.min(item.maxTokens(), context - ids.length);
    return new Prompt(ids, most, new Ending(item.complete()));
  }

  private int[] ids(Item item) {
    if (template && item.chat()) {
      String rendered = model.chatTemplate().render(List.of(Message.user(item.prompt())), true);
      return model.tokenizer().encode(rendered, false);
    }
    return model.tokenizer().encode(item.prompt());
  }

  static int[] withoutMiddle(int[] ids, int most) {
    int[] kept = new int[most];
    int head = most / 2;
    System.arraycopy(ids, 0, kept, 0, head);
    System.arraycopy(ids, ids.length - (most - head), kept, head, most - head);
    return kept;
  }

  /** Requests stay in this process; the predicate is not written. */
  private static final class Ending implements Serializable {
    private static final long serialVersionUID = 1;
    private final transient Predicate<String> complete;

    Ending(Predicate<String> complete) {
      this.complete = complete;
    }
  }

  private record Prompt(int[] prompt, int maxTokens, Ending ending) implements GenerationRequest {
    @Override
    public boolean isComplete(String answer) {
      return ending.complete.test(answer);
    }
  }
}
