package dev.kvasir.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

/**
 * A synthetic vocabulary: unknown, BOS, EOS, the 256 bytes, then pieces with falling scores. The
 * expected ids were derived by hand, merge by merge.
 */
class SentencePieceTest {
  private static final int BYTES = 3;
  private static final int PIECES = BYTES + 256;

  /** In order of id; the score is the negative of the number after the colon. */
  private static final List<String> SCORED =
      List.of(
          "_t:0", "he:1", "_the:2", "in:3", "er:4", "_a:5", "bc:6", "ab:6", "_:50", "t:51", "h:52",
          "e:53", "i:54", "n:55", "r:56", "a:57", "b:58", "c:59", "s:60");

  private static int id(String piece) {
    for (int i = 0; i < SCORED.size(); i++) {
      if (SCORED.get(i).startsWith(piece + ":")) {
        return PIECES + i;
      }
    }
    throw new IllegalArgumentException(piece);
  }

  static GgufMetadataWriter head(Map<String, Float> pieces) {
    int count = PIECES + pieces.size();
    String[] tokens = new String[count];
    int[] types = new int[count];
    float[] scores = new float[count];
    tokens[0] = "<unk>";
    tokens[1] = "<s>";
    tokens[2] = "</s>";
    types[0] = 2;
    types[1] = 3;
    types[2] = 3;
    for (int value = 0; value < 256; value++) {
      tokens[BYTES + value] = "<0x%02X>".formatted(value);
      types[BYTES + value] = 6;
    }
    int id = PIECES;
    for (Map.Entry<String, Float> piece : pieces.entrySet()) {
      tokens[id] = piece.getKey().replace('_', '\u2581');
      types[id] = 1;
      scores[id++] = piece.getValue();
    }
    return new GgufMetadataWriter()
        .with("tokenizer.ggml.model", "llama")
        .with("tokenizer.ggml.tokens", tokens)
        .with("tokenizer.ggml.token_type", types)
        .with("tokenizer.ggml.scores", scores);
  }

  private static GgufMetadataWriter head() {
    return head(pieces());
  }

  private static Map<String, Float> pieces() {
    Map<String, Float> pieces = new LinkedHashMap<>();
    for (String scored : SCORED) {
      int colon = scored.indexOf(':');
      pieces.put(scored.substring(0, colon), -Float.parseFloat(scored.substring(colon + 1)));
    }
    return pieces;
  }

  /**
   * Returns a vocabulary like Gemma's: user-defined tokens, such as runs of line ends and spaces,
   * and no space before text.
   */
  private static Tokenizer withUserDefined(String... texts) {
    Map<String, Float> pieces = pieces();
    List.of(texts).forEach(text -> pieces.put(text, -1000f));
    int[] types = new int[PIECES + pieces.size()];
    Arrays.fill(types, BYTES, PIECES, 6);
    Arrays.fill(types, PIECES, types.length - texts.length, 1);
    Arrays.fill(types, types.length - texts.length, types.length, 4);
    return head(pieces)
        .with("tokenizer.ggml.token_type", types)
        .with("tokenizer.ggml.add_space_prefix", false)
        .tokenizer();
  }

  @Test
  void theHighestScoreMergesFirst() {
    Tokenizer tokenizer = head().tokenizer();
    assertThat(tokenizer.encode("the", false)).containsExactly(id("_the"));
    assertThat(tokenizer.encode("there", false)).containsExactly(id("_the"), id("r"), id("e"));
    assertThat(tokenizer.encode("in the", false)).containsExactly(id("_"), id("in"), id("_the"));
    assertThat(tokenizer.encode("abc", false)).containsExactly(id("_a"), id("bc"));
  }

  @Test
  void ofEqualScoresTheLeftmostMerges() {
    assertThat(head().tokenizer().encode("sabc", false))
        .containsExactly(id("_"), id("s"), id("ab"), id("c"));
  }

  @Test
  void anUnknownCharacterFallsBackToItsBytes() {
    Tokenizer tokenizer = head().tokenizer();
    int[] ids = tokenizer.encode("\u00E9", false);
    assertThat(ids).containsExactly(id("_"), BYTES + 0xC3, BYTES + 0xA9);
    assertThat(tokenizer.decode(ids)).isEqualTo(" \u00E9");
  }

  @Test
  void bosIsAddedUnlessTheCallOrTheFileSaysOtherwise() {
    assertThat(head().tokenizer().encode("the")).containsExactly(1, id("_the"));
    assertThat(head().tokenizer().encode("")).containsExactly(1);
    assertThat(head().tokenizer().encode("", false)).isEmpty();
    Tokenizer other =
        head()
            .with("tokenizer.ggml.add_bos_token", false)
            .with("tokenizer.ggml.add_eos_token", true)
            .tokenizer();
    assertThat(other.encode("the")).containsExactly(id("_the"), 2);
  }

  @Test
  void aPromptBeginsWithBosOnceIfTextsDo() {
    assertThat(head().tokenizer().encodePrompt("the")).containsExactly(1, id("_the"));
    assertThat(head().tokenizer().encodePrompt("<s>the")).containsExactly(1, id("_the"));
    Tokenizer other =
        head()
            .with("tokenizer.ggml.add_bos_token", false)
            .with("tokenizer.ggml.add_eos_token", true)
            .tokenizer();
    assertThat(other.encodePrompt("the")).containsExactly(id("_the"));
    assertThat(other.encodePrompt("<s>the")).containsExactly(1, id("_the"));
  }

  @Test
  void textAfterASpecialTokenBeginsAWordAgain() {
    assertThat(head().tokenizer().encode("<s>the</s>in", false))
        .containsExactly(1, id("_the"), 2, id("_"), id("in"));
  }

  @Test
  void theSpaceBeforeTheTextMayBeSwitchedOff() {
    Tokenizer tokenizer = head().with("tokenizer.ggml.add_space_prefix", false).tokenizer();
    assertThat(tokenizer.encode("in the", false)).containsExactly(id("in"), id("_the"));
  }

  @Test
  void userDefinedTokensMatchBeforeMergingLongestFirst() {
    Tokenizer tokenizer = withUserDefined("\n\n", "\n\n\n", "  ", "<b>");
    int first = id("s") + 1;
    int[] ids = tokenizer.encode("in\n\n\n\nthe   a<b>in", false);
    assertThat(ids)
        .containsExactly(
            id("in"),
            first + 1,
            BYTES + '\n',
            id("t"),
            id("he"),
            first + 2,
            id("_a"),
            first + 3,
            id("in"));
    assertThat(tokenizer.decode(ids)).isEqualTo("in\n\n\n\nthe   a<b>in");
  }

  @Test
  void phi3StripsTheSpaceAfterASpecialToken() {
    Tokenizer tokenizer = head().with("general.name", "Phi-3 mini").tokenizer();
    assertThat(tokenizer.encode("</s>\n the", false)).containsExactly(2, id("_the"));
    assertThat(tokenizer.encode("<s> the", false)).containsExactly(1, id("_"), id("_the"));
  }

  @Test
  void describesItself() {
    Tokenizer tokenizer = head().with("tokenizer.chat_template", "{{ messages }}").tokenizer();
    assertThat(tokenizer.description()).isEqualTo("SentencePiece BPE, 278 tokens");
    assertThat(tokenizer.bos()).isEqualTo(OptionalInt.of(1));
    assertThat(tokenizer.eosText()).hasValue("</s>");
    assertThat(tokenizer.endOfText()).isEqualTo(Set.of(2));
    assertThat(tokenizer.chatTemplate()).hasValue("{{ messages }}");
  }

  /** Few letters, many pieces and only three scores cause many ties and ambiguities. */
  @Property(tries = 500, seed = "17")
  void segmentsAsTheRuleSaysForAnyVocabulary(
      @ForAll @IntRange(max = 100_000) int vocabularySeed,
      @ForAll @CharRange(from = 'a', to = 'd') @StringLength(max = 60) String text) {
    Random random = new Random(vocabularySeed);
    Map<String, Float> pieces = new TreeMap<>(Map.of("a", -9f, "b", -9f, "c", -9f));
    for (int i = 0; i < 40; i++) {
      int length = 2 + random.nextInt(4);
      StringBuilder piece = new StringBuilder();
      for (int j = 0; j < length; j++) {
        piece.append((char) ('a' + random.nextInt(3)));
      }
      pieces.put(piece.toString(), -0.0f + random.nextInt(3));
    }
    Tokenizer tokenizer = head(pieces).with("tokenizer.ggml.add_space_prefix", false).tokenizer();
    List<String> found = new ArrayList<>();
    for (int id : tokenizer.encode(text, false)) {
      found.add(tokenizer.decode(new int[] {id}));
    }
    assertThat(found).isEqualTo(mergeOneByOne(text, pieces));
  }

  /** Implements the rule directly: search all pairs, merge the best, repeat. */
  private static List<String> mergeOneByOne(String text, Map<String, Float> pieces) {
    List<String> symbols = new ArrayList<>(text.isEmpty() ? List.of() : List.of(text.split("")));
    while (true) {
      int best = -1;
      for (int i = 0; i + 1 < symbols.size(); i++) {
        Float score = pieces.get(symbols.get(i) + symbols.get(i + 1));
        if (score != null
            && (best < 0 || score > pieces.get(symbols.get(best) + symbols.get(best + 1)))) {
          best = i;
        }
      }
      if (best < 0) {
        return symbols;
      }
      symbols.set(best, symbols.get(best) + symbols.remove(best + 1));
    }
  }
}
