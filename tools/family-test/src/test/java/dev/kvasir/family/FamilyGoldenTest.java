package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Compares a tiny model of every family with llama.cpp in 32-bit floats. */
class FamilyGoldenTest {
  /** Logits are about 2 in size; llama.cpp uses a table of 16-bit floats for GELU. */
  private static final double LLAMA_CPP = 1e-2;

  /**
   * The same weights under other names, perhaps with another summation order. Without tables,
   * llama.cpp differs by up to 4e-5 as well.
   */
  private static final double SAME_MODEL = 5e-5;

  /**
   * Nats per token for 8-bit keys and values. Without experts it is at most 5e-3; with them, a
   * token close to a routing boundary may select another expert.
   */
  private static final double EIGHT_BITS = 2e-2;

  /**
   * Models with 26 layers, where one other expert leads to many. 16-bit floats cost up to 1.4e-2,
   * and four bits leave little to lose. A wrong page would cost as much with eight bits.
   */
  private static final Set<Family> SATURATED =
      EnumSet.of(Family.DEEPSEEK2_LITE, Family.DEEPSEEK2_LITE_YARN);

  private static final String FLOATS = "fp32";

  /** Families that differ from another one in their positions or widths only. */
  private static final String OTHER_POSITIONS =
      ".*_YARN|LLAMA3|PHI3_.*|MISTRAL3|DEEPSEEK2_2024|GEMMA3_WIDE";

  @TempDir static Path folder;

  /** The file of each family, loaded once. */
  private static final Map<Family, FamilyRunner> LOADED = new EnumMap<>(Family.class);

  private final int[] tokens = FamilyGolden.tokens();

  @AfterAll
  static void closeAll() {
    LOADED.values().forEach(FamilyRunner::close);
    LOADED.clear();
  }

  @ParameterizedTest
  @EnumSource
  void aModelIsTheOneThatItsGoldenWasMadeOf(Family family) throws IOException {
    CRC32 crc = new CRC32();
    Path file = family.modelForLlamaCpp().writeGguf(folder.resolve("model.gguf"));
    crc.update(Files.readAllBytes(file));
    assertThat("%08x".formatted(crc.getValue()))
        .as("%s has changed; make the goldens anew", family)
        .isEqualTo(FamilyGolden.of(family).crc());
  }

  @ParameterizedTest
  @EnumSource
  void logitsAreThoseOfLlamaCpp(Family family) {
    float[][] expected = FamilyGolden.of(family).logits();
    FamilyRunner runs = gguf(family);
    assertClose(runs.inOneStep(FLOATS, tokens), expected, LLAMA_CPP);
    assertClose(runs.tokenByToken(FLOATS, tokens), expected, LLAMA_CPP);
  }

  @ParameterizedTest
  @EnumSource
  void aGreedyTextIsThatOfLlamaCpp(Family family) {
    int[] expected = FamilyGolden.of(family).greedy();
    int[] prompt = Arrays.copyOf(tokens, FamilyGolden.GREEDY_AFTER);
    assertThat(gguf(family).greedy(FLOATS, prompt, expected.length)).isEqualTo(expected);
  }

  @ParameterizedTest
  @EnumSource
  void aFolderIsTheSameModelAsTheFile(Family family) {
    float[][] expected = gguf(family).inOneStep(FLOATS, tokens);
    Path path = folder.resolve(family.fileName());
    try (FamilyRunner other = FamilyRunner.ofFolder(family.model().writeFolder(path))) {
      assertClose(other.inOneStep(FLOATS, tokens), expected, SAME_MODEL);
    }
  }

  /**
   * Weights are random and logits large, so every width has a cost. Rounding noise falls with every
   * bit, its cost to a quarter, while a wrongly read page costs the same at any width.
   */
  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_NONE, names = OTHER_POSITIONS)
  void aQuantizedCacheLosesLessWithEveryBit(Family family) {
    // A block of the cache is quantized after the first part, and the second part reads it.
    int[] first = repeated(144);
    int[] second = FamilyGolden.of(family).greedy();
    FamilyRunner runs = gguf(family);
    float[][] expected = runs.tokenByTokenAfter(first, FLOATS, second);
    double[] lost = new double[9];
    for (int bits : new int[] {2, 4, 8}) {
      String spec = "kivi:%d,window=16".formatted(bits);
      lost[bits] = KlDivergence.mean(expected, runs.tokenByTokenAfter(first, spec, second));
    }
    if (family == Family.MISTRAL) {
      // Its layers attend to 40 tokens, which are never quantized: only the 16-bit window matters.
      assertThat(lost[2]).isEqualTo(lost[8]).isBetween(0.0, 1e-5);
      return;
    }
    if (SATURATED.contains(family)) {
      assertThat(lost[8]).isLessThan(lost[4] / 4);
      assertThat(lost[4]).isLessThan(lost[2]);
      return;
    }
    assertThat(lost[8]).isBetween(0.0, EIGHT_BITS);
    assertThat(lost[4]).isLessThan(lost[2] / 4).isGreaterThan(lost[8]);
  }

  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(mode = Mode.MATCH_ANY, names = OTHER_POSITIONS)
  void soItDoesWithOtherPositions(Family family) {
    aQuantizedCacheLosesLessWithEveryBit(family);
  }

  /** The last layer computes only the rows whose output is needed, and moves all their inputs. */
  @ParameterizedTest
  @EnumSource(names = {"GEMMA4", "QWEN2"})
  void hiddenStatesOfOthersChangeNoLogit(Family family) {
    FamilyRunner runs = gguf(family);
    float[] alone = runs.inOneStep("fp16", new int[] {tokens[0]})[0];
    assertThat(runs.besideStates(repeated(9), tokens[0])).isEqualTo(alone);
  }

  private int[] repeated(int length) {
    return IntStream.range(0, length).map(i -> tokens[i % tokens.length]).toArray();
  }

  private static FamilyRunner gguf(Family family) {
    return LOADED.computeIfAbsent(
        family, f -> FamilyRunner.ofGguf(f.model().writeGguf(folder.resolve(f + ".gguf"))));
  }

  private static void assertClose(float[][] found, float[][] expected, double bound) {
    assertThat(found.length).isEqualTo(expected.length);
    double farthest = 0;
    String where = "";
    for (int t = 0; t < found.length; t++) {
      assertThat(found[t]).hasSameSizeAs(expected[t]);
      for (int i = 0; i < found[t].length; i++) {
        double apart = Math.abs(found[t][i] - expected[t][i]);
        if (!(apart <= farthest)) {
          farthest = apart;
          where = "token %d, logit %d: %s and %s".formatted(t, i, found[t][i], expected[t][i]);
        }
      }
    }
    assertThat(farthest).as(where).isLessThanOrEqualTo(bound);
  }
}
