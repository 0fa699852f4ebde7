package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.SamplingOptions;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.MadeUpTokens;
import dev.kvasir.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TokenGrammarTest {
  private static final Grammar CALL =
      Grammar.sequence(
          Grammar.literal("<call>\n"),
          JsonGrammar.of(
              Texts.schema(
                  "{'properties': {'name': {'const': 'f'}, 'arguments': {'properties': {'x':"
                      + " {'type': 'integer'}}, 'required': ['x']}}, 'required': ['name',"
                      + " 'arguments']}")),
          Grammar.literal("\n</call>"));

  private static Tokenizer tokens(String... texts) {
    return MadeUpTokens.of(
        Stream.of(texts).map(text -> text.getBytes(StandardCharsets.UTF_8)).toList());
  }

  @Test
  void aCallOfAToolIsALiteralAValueAndALiteral() {
    Texts texts = Texts.of(CALL);
    String call = "<call>\n{\"name\": \"f\", \"arguments\": {\"x\": 5}}\n</call>";
    assertThat(texts.has(call)).isTrue();
    assertThat(texts.has(call + "\n")).isFalse();
    assertThat(texts.has("{\"name\": \"f\", \"arguments\": {\"x\": 5}}")).isFalse();
    Texts several = Texts.of(Grammar.choice(Grammar.literal("none"), CALL.repeated(1, 3)));
    assertThat(several.has("none")).isTrue();
    assertThat(several.has(call.repeat(3))).isTrue();
    assertThat(several.has(call.repeat(4))).isFalse();
    assertThat(several.has("")).isFalse();
    assertThatThrownBy(() -> CALL.repeated(2, 1))
        .hasMessage("repetitions are 2 to 1; expected 0 or more, and the least first");
  }

  @Test
  void atTheEndOnlyWhatEndsATextMayCome() {
    Tokenizer tokenizer = tokens("yes", "ye", "s!", "no");
    TokenConstraint constraint =
        Grammar.choice(Grammar.literal("yes"), Grammar.literal("yes!"))
            .over(tokenizer)
            .constraint();
    int y = MadeUpTokens.FIRST_BYTE + 'y';
    int yes = MadeUpTokens.FIRST;
    assertThat(Walk.allowed(constraint, 300)).containsExactly(y, yes, yes + 1);
    constraint.accept(yes + 1);
    assertThat(Walk.allowed(constraint, 300))
        .containsExactly(MadeUpTokens.FIRST_BYTE + 's', yes + 2);
    constraint.accept(MadeUpTokens.FIRST_BYTE + 's');
    assertThat(Walk.allowed(constraint, 300))
        .containsExactly(MadeUpTokens.END, MadeUpTokens.FIRST_BYTE + '!');
    constraint.accept(MadeUpTokens.END);
    assertThat(Walk.allowed(constraint, 300)).containsExactly(MadeUpTokens.END);
    constraint.accept(MadeUpTokens.END);
    assertThat(Walk.allowed(constraint, 300)).containsExactly(MadeUpTokens.END);
  }

  @Test
  void aTokenThatMayNotComeIsRefused() {
    TokenConstraint constraint = Grammar.literal("a").over(tokens("ab")).constraint();
    for (int token : new int[] {-1, MadeUpTokens.SPECIAL, MadeUpTokens.END, 300, 1 << 20}) {
      assertThatThrownBy(() -> constraint.accept(token))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("token %d may not come here", token);
    }
    constraint.accept(MadeUpTokens.FIRST_BYTE + 'a');
  }

  @Test
  void aMaskIsWhatTokensSayOneByOne() {
    Random random = new Random(3);
    List<byte[]> made = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      byte[] token = new byte[1 + random.nextInt(5)];
      for (int at = 0; at < token.length; at++) {
        token[at] =
            (byte)
                "{}[]\":,. -\\u0123456789abcdefntrl\u00C3\u00A9\u00F0\u009F"
                    .charAt(random.nextInt(36));
      }
      made.add(token);
    }
    Tokenizer tokenizer = MadeUpTokens.of(made);
    for (int seed = 0; seed < 30; seed++) {
      Grammar grammar = JsonGrammar.of(new SchemaMaker(seed).make().schema());
      TokenGrammar over = grammar.over(tokenizer);
      TokenConstraint constraint = over.constraint();
      Place place = over.start();
      for (int id : new Walk(grammar, tokenizer, seed).ids()) {
        assertThat(Walk.allowed(constraint, tokenizer.vocabularySize() + 7))
            .isEqualTo(oneByOne(new Places(grammar.automaton()), place, tokenizer));
        constraint.accept(id);
        place = over.after(place, id);
      }
    }
  }

  private static List<Integer> oneByOne(Places places, Place from, Tokenizer tokenizer) {
    return IntStream.range(0, tokenizer.vocabularySize())
        .filter(
            id -> {
              Place at = from;
              for (byte value : tokenizer.tokenBytes(id)) {
                at = places.after(at, value & 0xFF);
              }
              return id == MadeUpTokens.END
                  ? from.isText()
                  : !tokenizer.isSpecial(id) && !at.isDead;
            })
        .boxed()
        .toList();
  }

  @Test
  void aCharacterMayBeSpreadOverTokensAndIsNeverLeftInHalf() {
    byte[] smile = "\uD83D\uDE00".getBytes(StandardCharsets.UTF_8);
    Tokenizer tokenizer =
        MadeUpTokens.of(
            List.of(
                new byte[] {'"', smile[0]},
                new byte[] {smile[1], smile[2]},
                new byte[] {smile[3], '"'},
                new byte[] {'"', 'a'}));
    TokenConstraint constraint =
        JsonGrammar.of(Texts.schema("{'type': 'string', 'maxLength': 1}"))
            .over(tokenizer)
            .constraint();
    constraint.accept(MadeUpTokens.FIRST);
    constraint.accept(MadeUpTokens.FIRST + 1);
    assertThat(Walk.allowed(constraint, 300))
        .hasSize(64 + 1)
        .contains(MadeUpTokens.FIRST + 2)
        .doesNotContain(MadeUpTokens.FIRST + 3, MadeUpTokens.FIRST_BYTE + '"');
    constraint.accept(MadeUpTokens.FIRST + 2);
    assertThat(Walk.allowed(constraint, 300)).containsExactly(MadeUpTokens.END);
  }

  @Test
  void aSamplerPicksWhatTheGrammarAllowsWhateverTheModelWants() {
    Tokenizer tokenizer = tokens("<call>", "</call>", "{\"name\"");
    TokenGrammar grammar = CALL.over(tokenizer);
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      Sampler sampler =
          new Sampler(SamplingOptions.defaults().withSeed(seed), grammar.constraint());
      List<Integer> ids = new ArrayList<>();
      int token = -1;
      while (token != MadeUpTokens.END) {
        float[] logits = new float[400];
        for (int i = 0; i < logits.length; i++) {
          logits[i] = (float) random.nextGaussian();
        }
        token = sampler.pick(logits, 0, logits.length);
        ids.add(token);
      }
      String text = tokenizer.decode(ids.stream().mapToInt(i -> i).toArray(), true);
      assertThat(Texts.of(CALL).has(text)).as(text).isTrue();
    }
  }

  @Test
  void severalThreadsMayGenerateWithOneGrammar() {
    Tokenizer tokenizer = tokens("<call>", "</call>", "{\"name\"");
    TokenGrammar grammar = CALL.over(tokenizer);
    String text = "<call>\n{\"name\": \"f\", \"arguments\": {\"x\": 17}}\n</call>";
    IntStream.range(0, 200)
        .parallel()
        .forEach(
            i -> {
              TokenConstraint constraint = grammar.constraint();
              for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
                int id = MadeUpTokens.FIRST_BYTE + value;
                assertThat(Walk.allowed(constraint, 300)).contains(id);
                constraint.accept(id);
              }
              assertThat(Walk.allowed(constraint, 300)).containsExactly(MadeUpTokens.END);
            });
  }

  @Test
  void whatIsKeptIsForgottenAtABoundAndTextsGoOn() {
    Grammar grammar = JsonGrammar.of(Texts.schema("{'type': 'string', 'maxLength': 40000}"));
    TokenConstraint constraint = grammar.over(tokens("aa")).constraint();
    constraint.accept(MadeUpTokens.FIRST_BYTE + '"');
    for (int i = 0; i < 20_000; i++) {
      constraint.accept(MadeUpTokens.FIRST);
    }
    assertThat(Walk.allowed(constraint, 300)).containsExactly(MadeUpTokens.FIRST_BYTE + '"');
  }
}
