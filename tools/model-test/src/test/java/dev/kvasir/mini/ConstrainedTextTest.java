package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.SamplingOptions;
import dev.kvasir.TokenLogprob;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.grammar.Grammar;
import dev.kvasir.grammar.JsonGrammar;
import dev.kvasir.grammar.TokenGrammar;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.sampling.Sampler;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The bundled model, which was trained on stories and not on JSON, constrained by a grammar. */
class ConstrainedTextTest {
  private static final JsonObject SCHEMA =
      JsonParser.parseString(
              """
              {"type": "object",
               "properties": {
                 "name": {"type": "string", "minLength": 1, "maxLength": 12},
                 "age": {"type": "integer", "minimum": 1, "maximum": 120},
                 "mood": {"enum": ["glad", "sad"]},
                 "likes": {"type": "array", "maxItems": 3,
                           "items": {"type": "string", "pattern": "^[a-z]{2,9}$"}}},
               "required": ["name", "age", "mood", "likes"]}
              """)
          .getAsJsonObject();

  private static LoadedModel model;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void aModelThatKnowsNoJsonWritesWhatTheSchemaAsksFor() {
    TokenGrammar grammar = JsonGrammar.of(SCHEMA).forTokenizer(model.tokenizer());
    for (int seed = 0; seed < 5; seed++) {
      String text = generate(grammar, SamplingOptions.builder().seed(seed).build());
      JsonObject value = JsonParser.parseString(text).getAsJsonObject();
      assertThat(value.keySet()).containsExactly("name", "age", "mood", "likes");
      assertThat(value.get("name").getAsString()).hasSizeBetween(1, 12);
      assertThat(value.get("age").getAsInt()).isBetween(1, 120);
      assertThat(value.get("mood").getAsString()).isIn("glad", "sad");
      assertThat(value.getAsJsonArray("likes").asList())
          .hasSizeLessThanOrEqualTo(3)
          .allMatch(each -> each.getAsString().matches("[a-z]{2,9}"));
    }
  }

  @Test
  void aLiteralIsWrittenInTheLikeliestOfItsTokenizations() {
    TokenGrammar grammar =
        Grammar.literal(" there was a little girl").forTokenizer(model.tokenizer());
    assertThat(generate(grammar, SamplingOptions.greedy())).isEqualTo(" there was a little girl");
  }

  /** Continues the start of a story until a token ends the text. */
  private static String generate(TokenGrammar grammar, SamplingOptions options) {
    Sampler sampler = new Sampler(options, grammar.constraint(), OptionalInt.of(3));
    int[] prompt = model.tokenizer().encode("Once upon a time");
    List<Integer> text = new ArrayList<>();
    Batch batch = new Batch();
    try (KvCache cache = CacheSpec.DEFAULT.newCache(model.config().cacheShape())) {
      for (int i = 0; i < prompt.length; i++) {
        batch.add(cache, prompt[i], i == prompt.length - 1);
      }
      while (text.size() < 500) {
        model.forward(batch);
        int token = sampler.sample(batch.logits(), batch.logitsAt(0), batch.vocabulary());
        TokenLogprob picked = sampler.lastLogprob();
        assertThat(picked.token()).isEqualTo(token);
        assertThat(picked.top().getFirst().logprob()).isBetween(picked.logprob(), 0.0);
        if (model.tokenizer().endOfText().contains(token)) {
          break;
        }
        text.add(token);
        batch.clear();
        batch.add(cache, token, true);
      }
    }
    return model.tokenizer().decode(text.stream().mapToInt(Integer::intValue).toArray());
  }
}
