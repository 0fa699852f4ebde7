package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.server.answer.AnswerEvent;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The shape of {@code /v1/completions}. */
public final class TextReply extends Reply {
  private final Map<Integer, StringBuilder> texts = new TreeMap<>();
  private final Map<Integer, String> reasons = new TreeMap<>();

  public TextReply(String model) {
    super("cmpl-", "text_completion", "text_completion", model);
  }

  @Override
  List<JsonObject> pieces(AnswerEvent event) {
    return switch (event) {
      case AnswerEvent.Text text -> List.of(piece(text.choice(), text.text(), null));
      case AnswerEvent.Done done -> List.of(piece(done.choice(), "", done.reason()));
      default -> List.of();
    };
  }

  private static JsonObject piece(int index, String text, String reason) {
    JsonObject choice = choice(index, reason);
    choice.addProperty("text", text);
    return choice;
  }

  @Override
  void gather(AnswerEvent event) {
    StringBuilder text = texts.computeIfAbsent(event.choice(), any -> new StringBuilder());
    switch (event) {
      case AnswerEvent.Text piece -> text.append(piece.text());
      case AnswerEvent.Done done -> reasons.put(done.choice(), done.reason());
      default -> {}
    }
  }

  @Override
  JsonArray choices() {
    JsonArray choices = new JsonArray();
    texts.forEach((index, text) -> choices.add(piece(index, text.toString(), reasons.get(index))));
    return choices;
  }
}
