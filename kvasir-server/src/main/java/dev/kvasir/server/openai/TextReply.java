package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.sampling.TokenLikelihood;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The shape of {@code /v1/completions}. */
public final class TextReply extends Reply {
  private final Map<Integer, StringBuilder> texts = new TreeMap<>();
  private final Map<Integer, String> reasons = new TreeMap<>();
  private final Map<Integer, List<TokenLikelihood>> likelihoods = new TreeMap<>();

  public TextReply(String model, Tokenizer tokenizer) {
    super("cmpl-", "text_completion", "text_completion", model, tokenizer);
  }

  @Override
  List<JsonObject> pieces(AnswerEvent event) {
    return switch (event) {
      case AnswerEvent.Text text ->
          List.of(piece(text.choice(), text.text(), null, text.likelihoods()));
      case AnswerEvent.Done done -> List.of(piece(done.choice(), "", done.reason(), List.of()));
      default -> List.of();
    };
  }

  private JsonObject piece(
      int index, String text, String reason, List<TokenLikelihood> likelihoods) {
    JsonObject choice = choice(index, reason, likelihoods);
    choice.addProperty("text", text);
    return choice;
  }

  @Override
  void gather(AnswerEvent event) {
    StringBuilder text = texts.computeIfAbsent(event.choice(), any -> new StringBuilder());
    switch (event) {
      case AnswerEvent.Text piece -> {
        text.append(piece.text());
        likelihoods
            .computeIfAbsent(event.choice(), any -> new ArrayList<>())
            .addAll(piece.likelihoods());
      }
      case AnswerEvent.Done done -> reasons.put(done.choice(), done.reason());
      default -> {}
    }
  }

  @Override
  JsonArray choices() {
    JsonArray choices = new JsonArray();
    texts.forEach(
        (index, text) ->
            choices.add(
                piece(
                    index,
                    text.toString(),
                    reasons.get(index),
                    likelihoods.getOrDefault(index, List.of()))));
    return choices;
  }

  @Override
  JsonObject logprobs(List<TokenLikelihood> likelihoods, Tokenizer tokenizer) {
    return Logprobs.ofText(likelihoods, tokenizer);
  }
}
