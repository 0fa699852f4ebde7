package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.SamplingOptions;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.SyntheticTokenizer;
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
              AcceptedTexts.schema(
                  "{'properties': {'name': {'const': 'f'}, 'arguments': {'properties': {'x':"
                      + " {'type': 'integer'}}, 'required': ['x']}}, 'required': ['name',"
                      + " 'arguments']}")),
          Grammar.literal("\n</call>"));

  private static Tokenizer tokens(String... texts) {
    return SyntheticTokenizer.of(
        Stream.of(texts).map(text -> text.getBytes(StandardCharsets.UTF_8)).toList());
  }

  @Test
  void aToolCallIsALiteralAValueAndALiteral() {
    AcceptedTexts texts = AcceptedTexts.of(CALL);
    String call = "<call>\n{\"name\": \"f\", \"arguments\": {\"x\": 5}}\n</call>";
    assertThat(texts.contains(call)).isTrue();
    assertThat(texts.contains(call + "\n")).isFalse();
    assertThat(texts.contains("{\"name\": \"f\", \"arguments\": {\"x\": 5}}")).isFalse();
    AcceptedTexts several =
        AcceptedTexts.of(Grammar.choice(Grammar.literal("none"), CALL.repeated(1, 3)));
    assertThat(several.contains("none")).isTrue();
    assertThat(several.contains(call.repeat(3))).isTrue();
    assertThat(several.contains(call.repeat(4))).isFalse();
    assertThat(several.contains("")).isFalse();
    assertThatThrownBy(() -> CALL.repeated(2, 1))
        .hasMessage("repetitions are 2 to 1; expected 0 or more, and the least first");
  }

  @Test
  void atTheEndOnlyEndTokensAreAllowed() {
    Tokenizer tokenizer = tokens("yes", "ye", "s!", "no");
    TokenConstraint constraint =
        Grammar.choice(Grammar.literal("yes"), Grammar.literal("yes!"))
            .forTokenizer(tokenizer)
            .constraint();
    int y = SyntheticTokenizer.FIRST_BYTE + 'y';
    int yes = SyntheticTokenizer.FIRST;
    assertThat(RandomGeneration.allowed(constraint, 300)).containsExactly(y, yes, yes + 1);
    constraint.accept(yes + 1);
    assertThat(RandomGeneration.allowed(constraint, 300))
        .containsExactly(SyntheticTokenizer.FIRST_BYTE + 's', yes + 2);
    constraint.accept(SyntheticTokenizer.FIRST_BYTE + 's');
    assertThat(RandomGeneration.allowed(constraint, 300))
        .containsExactly(SyntheticTokenizer.END, SyntheticTokenizer.FIRST_BYTE + '!');
    constraint.accept(SyntheticTokenizer.END);
    assertThat(RandomGeneration.allowed(constraint, 300)).containsExactly(SyntheticTokenizer.END);
    constraint.accept(SyntheticTokenizer.END);
    assertThat(RandomGeneration.allowed(constraint, 300)).containsExactly(SyntheticTokenizer.END);
  }

  @Test
  void aForbiddenTokenIsRefused() {
    TokenConstraint constraint = Grammar.literal("a").forTokenizer(tokens("ab")).constraint();
    for (int token :
        new int[] {-1, SyntheticTokenizer.SPECIAL, SyntheticTokenizer.END, 300, 1 << 20}) {
      assertThatThrownBy(() -> constraint.accept(token))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("token %d may not come here", token);
    }
    constraint.accept(SyntheticTokenizer.FIRST_BYTE + 'a');
  }

  @Test
  void aMaskEqualsThatOfSingleTokens() {
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
    Tokenizer tokenizer = SyntheticTokenizer.of(made);
    for (int seed = 0; seed < 30; seed++) {
      Grammar grammar = JsonGrammar.of(new SchemaGenerator(seed).make().schema());
      TokenGrammar over = grammar.forTokenizer(tokenizer);
      TokenConstraint constraint = over.constraint();
      ParserState parserState = over.start();
      for (int id : new RandomGeneration(grammar, tokenizer, seed).ids()) {
        assertThat(RandomGeneration.allowed(constraint, tokenizer.vocabularySize() + 7))
            .isEqualTo(oneByOne(new ParserStates(grammar.automaton()), parserState, tokenizer));
        constraint.accept(id);
        parserState = over.advance(parserState, id);
      }
    }
  }

  private static List<Integer> oneByOne(
      ParserStates states, ParserState from, Tokenizer tokenizer) {
    return IntStream.range(0, tokenizer.vocabularySize())
        .filter(
            id -> {
              ParserState at = from;
              for (byte value : tokenizer.tokenBytes(id)) {
                at = states.advance(at, value & 0xFF);
              }
              return id == SyntheticTokenizer.END
                  ? from.isAccepting()
                  : !tokenizer.isSpecial(id) && !at.isDead;
            })
        .boxed()
        .toList();
  }

  @Test
  void aCharacterMaySpanTokensAndIsNeverIncomplete() {
    byte[] smile = "\uD83D\uDE00".getBytes(StandardCharsets.UTF_8);
    Tokenizer tokenizer =
        SyntheticTokenizer.of(
            List.of(
                new byte[] {'"', smile[0]},
                new byte[] {smile[1], smile[2]},
                new byte[] {smile[3], '"'},
                new byte[] {'"', 'a'}));
    TokenConstraint constraint =
        JsonGrammar.of(AcceptedTexts.schema("{'type': 'string', 'maxLength': 1}"))
            .forTokenizer(tokenizer)
            .constraint();
    constraint.accept(SyntheticTokenizer.FIRST);
    constraint.accept(SyntheticTokenizer.FIRST + 1);
    assertThat(RandomGeneration.allowed(constraint, 300))
        .hasSize(64 + 1)
        .contains(SyntheticTokenizer.FIRST + 2)
        .doesNotContain(SyntheticTokenizer.FIRST + 3, SyntheticTokenizer.FIRST_BYTE + '"');
    constraint.accept(SyntheticTokenizer.FIRST + 2);
    assertThat(RandomGeneration.allowed(constraint, 300)).containsExactly(SyntheticTokenizer.END);
  }

  @Test
  void aSamplerFollowsTheGrammarAgainstTheModel() {
    Tokenizer tokenizer = tokens("<call>", "</call>", "{\"name\"");
    TokenGrammar grammar = CALL.forTokenizer(tokenizer);
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      Sampler sampler =
          new Sampler(SamplingOptions.builder().seed(seed).build(), grammar.constraint());
      List<Integer> ids = new ArrayList<>();
      int token = -1;
      while (token != SyntheticTokenizer.END) {
        float[] logits = new float[400];
        for (int i = 0; i < logits.length; i++) {
          logits[i] = (float) random.nextGaussian();
        }
        token = sampler.sample(logits, 0, logits.length);
        ids.add(token);
      }
      String text = tokenizer.decode(ids.stream().mapToInt(i -> i).toArray(), true);
      assertThat(AcceptedTexts.of(CALL).contains(text)).as(text).isTrue();
    }
  }

  @Test
  void severalThreadsMayGenerateWithOneGrammar() {
    Tokenizer tokenizer = tokens("<call>", "</call>", "{\"name\"");
    TokenGrammar grammar = CALL.forTokenizer(tokenizer);
    String text = "<call>\n{\"name\": \"f\", \"arguments\": {\"x\": 17}}\n</call>";
    IntStream.range(0, 200)
        .parallel()
        .forEach(
            i -> {
              TokenConstraint constraint = grammar.constraint();
              for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
                int id = SyntheticTokenizer.FIRST_BYTE + value;
                assertThat(RandomGeneration.allowed(constraint, 300)).contains(id);
                constraint.accept(id);
              }
              assertThat(RandomGeneration.allowed(constraint, 300))
                  .containsExactly(SyntheticTokenizer.END);
            });
  }

  @Test
  void theCacheIsBoundedAndGenerationContinues() {
    Grammar grammar =
        JsonGrammar.of(AcceptedTexts.schema("{'type': 'string', 'maxLength': 40000}"));
    TokenConstraint constraint = grammar.forTokenizer(tokens("aa")).constraint();
    constraint.accept(SyntheticTokenizer.FIRST_BYTE + '"');
    for (int i = 0; i < 20_000; i++) {
      constraint.accept(SyntheticTokenizer.FIRST);
    }
    assertThat(RandomGeneration.allowed(constraint, 300))
        .containsExactly(SyntheticTokenizer.FIRST_BYTE + '"');
  }
}
