package dev.kvasir.model;

import static dev.kvasir.model.Logits.assertClose;
import static dev.kvasir.model.Logits.doubles;
import static dev.kvasir.model.Logits.inOneStep;
import static dev.kvasir.model.Logits.ofLoaded;
import static dev.kvasir.model.Logits.row;
import static dev.kvasir.model.Logits.tokenByToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufValue;
import dev.kvasir.model.TinyModel.Sizes;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the decoder against one written from the definitions, on small random models. */
@Tag("contract")
class HostEngineTest extends FreesEngines {
  private static final long SEED = 41;

  /** Logits are about 1 in size; rounding of float sums and of halves costs this much. */
  private static final double CLOSE = 1e-3;

  private static final int[] TOKENS = {3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 32};

  static Stream<Sizes> models() {
    return Stream.of(
        Sizes.of("llama"),
        Sizes.of("llama").withTied(),
        Sizes.of("llama").withHeads(4, 4, 8),
        Sizes.of("llama").withHeads(4, 1, 8),
        Sizes.of("llama").withHeads(2, 1, 24),
        Sizes.of("mistral"),
        Sizes.of("qwen2"),
        Sizes.of("qwen2").withTied(),
        Sizes.of("qwen3"),
        Sizes.of("qwen3").withHeads(4, 1, 24),
        Sizes.of("qwen3").withHeads(3, 3, 4).withTied(),
        Sizes.of("qwen2moe"),
        Sizes.of("qwen3moe").withHeads(4, 1, 24).withTied());
  }

  @ParameterizedTest
  @MethodSource("models")
  void everyFamilyAgreesWithItsDefinitionFromEitherFormat(Sizes sizes) {
    TinyModel model = new TinyModel(sizes, SEED);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    assertClose(logits(gguf(model)), expected, CLOSE);
    assertClose(logits(huggingFace(model)), expected, CLOSE);
  }

  static Stream<Sizes> modelsOfTwoWidths() {
    return Stream.of("llama", "mistral", "qwen2", "qwen3")
        .flatMap(
            family ->
                Stream.of(
                    Sizes.of(family).withHeads(4, 2, 24, 8),
                    Sizes.of(family).withHeads(3, 1, 8, 20)));
  }

  @ParameterizedTest
  @MethodSource("modelsOfTwoWidths")
  void everyFamilyAgreesWithValuesOfAnotherWidthThanKeys(Sizes sizes) {
    TinyModel model = new TinyModel(sizes, SEED);
    assertClose(logits(gguf(model)), new NaiveDecoder(model).logits(TOKENS), CLOSE);
  }

  @Test
  void aLongPromptAgreesAcrossPages() {
    TinyModel model = new TinyModel(Sizes.of("llama"), SEED);
    int[] tokens = new Random(SEED).ints(300, 0, 50).toArray();
    try (HostEngine decoder = gguf(model)) {
      assertClose(inOneStep(decoder, tokens), new NaiveDecoder(model).logits(tokens), CLOSE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyTypeOfWeightAgrees(GgmlType type) {
    TinyModel model = new TinyModel(Sizes.of("llama").withType(type), SEED);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    try (HostEngine decoder = gguf(model)) {
      // An activation near a rounding boundary may round the other way.
      double bound = type.isFloat() ? CLOSE : 100 * CLOSE;
      assertClose(inOneStep(decoder, TOKENS), expected, bound);
      assertClose(tokenByToken(decoder, TOKENS), expected, bound);
    }
    if (type.isFloat()) {
      assertClose(logits(huggingFace(model)), expected, CLOSE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyTypeOfWeightAgreesCloselyAwayFromRoundingBoundaries(GgmlType type) {
    assertThat(LongStream.range(SEED, SEED + 12).boxed())
        .anyMatch(seed -> farthest(type, seed) <= CLOSE);
  }

  private double farthest(GgmlType type, long seed) {
    TinyModel model = new TinyModel(Sizes.of("llama").withType(type), seed);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    double farthest = 0;
    try (HostEngine decoder = gguf(model)) {
      float[][] found = inOneStep(decoder, TOKENS);
      for (int t = 0; t < found.length; t++) {
        for (int i = 0; i < found[t].length; i++) {
          farthest = Math.max(farthest, Math.abs(found[t][i] - expected[t][i]));
        }
      }
    }
    return farthest;
  }

  @ParameterizedTest
  @EnumSource(
      value = GgmlType.class,
      names = {"F16", "Q8_0", "Q4_0"})
  void expertsOfAnyTypeAgree(GgmlType type) {
    TinyModel model = new TinyModel(Sizes.of("qwen2moe").withType(type), SEED);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    try (HostEngine decoder = gguf(model)) {
      double bound = type.isFloat() ? CLOSE : 50 * CLOSE;
      assertClose(inOneStep(decoder, TOKENS), expected, bound);
      assertClose(tokenByToken(decoder, TOKENS), expected, bound);
    }
  }

  @Test
  void theGateOfASharedExpertMayBeARow() {
    TinyModel model = new TinyModel(Sizes.of("qwen2moe"), SEED);
    model.convertedAsRow = true;
    try (HostEngine decoder = gguf(model)) {
      assertClose(inOneStep(decoder, TOKENS), new NaiveDecoder(model).logits(TOKENS), CLOSE);
    }
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "3", "5", "11", "12", "100"})
  void aSlidingWindowHidesEarlierTokens(int window) {
    TinyModel model = new TinyModel(Sizes.of("mistral"), SEED);
    model.window = window;
    model.say("attention.sliding_window", window);
    model.json.addProperty("sliding_window", window);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    assertClose(logits(gguf(model)), expected, CLOSE);
    assertClose(logits(huggingFace(model)), expected, CLOSE);
  }

  @Test
  void llama3ScalingAgreesAsARuleAndAsDivisors() {
    TinyModel model = new TinyModel(Sizes.of("llama").withHeads(2, 1, 16), SEED);
    // Wavelengths of 6 to 353 positions: some unchanged, some interpolated, some scaled.
    double context = 64;
    model.ropeDivisors = new double[8];
    for (int i = 0; i < 8; i++) {
      double wavelength = 2 * Math.PI * Math.pow(TinyModel.ROPE_BASE, 2.0 * i / 16);
      double smooth = (context / wavelength - 1) / (4 - 1);
      double unscaled = wavelength < context / 4 ? 1 : wavelength > context ? 0 : smooth;
      model.ropeDivisors[i] = 1 / (unscaled + (1 - unscaled) / 8);
    }
    assertThat(model.ropeDivisors).contains(1, 8);
    assertThat(Arrays.stream(model.ropeDivisors)).anyMatch(divisor -> divisor > 1 && divisor < 8);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    assertClose(logits(gguf(model)), expected, CLOSE);
    model.json.add("rope_scaling", scaling("rope_type", "llama3", 8));
    assertClose(logits(huggingFace(model)), expected, CLOSE);
  }

  @Test
  void linearScalingAgreesUnderEveryKey() {
    TinyModel plain = new TinyModel(Sizes.of("llama"), SEED);
    TinyModel model = new TinyModel(Sizes.of("llama"), SEED);
    model.ropeDivisors = new double[4];
    Arrays.fill(model.ropeDivisors, 4);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    plain.say("rope.scaling.type", GgufValue.string("linear"));
    plain.say("rope.scaling.factor", GgufValue.float32(4));
    assertClose(logits(gguf(plain)), expected, CLOSE);
    plain.json.add("rope_scaling", scaling("type", "linear", 4));
    assertClose(logits(huggingFace(plain)), expected, CLOSE);
    plain.json.remove("rope_scaling");
    JsonObject parameters = scaling("rope_type", "linear", 4);
    parameters.addProperty("rope_theta", TinyModel.ROPE_BASE);
    plain.json.remove("rope_theta");
    plain.json.add("rope_parameters", parameters);
    assertClose(logits(huggingFace(plain)), expected, CLOSE);
  }

  /** Older files state only the factor, or use its older name. */
  @ParameterizedTest
  @CsvSource({"rope.scaling.factor", "rope.scale_linear"})
  void aFactorWithoutATypeIsLinear(String key) {
    TinyModel model = new TinyModel(Sizes.of("llama"), SEED);
    model.ropeDivisors = new double[4];
    Arrays.fill(model.ropeDivisors, 4);
    double[][] expected = new NaiveDecoder(model).logits(TOKENS);
    model.ropeDivisors = null;
    model.say(key, GgufValue.float32(4));
    assertClose(logits(gguf(model)), expected, CLOSE);
    model.say(key, GgufValue.float32(0)); // older files use 0 for none
    assertClose(logits(gguf(model)), new NaiveDecoder(model).logits(TOKENS), CLOSE);
  }

  private static JsonObject scaling(String typeKey, String type, double factor) {
    JsonObject scaling = new JsonObject();
    scaling.addProperty(typeKey, type);
    scaling.addProperty("factor", factor);
    scaling.addProperty("low_freq_factor", 1);
    scaling.addProperty("high_freq_factor", 4);
    scaling.addProperty("original_max_position_embeddings", 64);
    return scaling;
  }

  @ParameterizedTest
  @MethodSource("models")
  void aPromptInOneStepEqualsTokenByToken(Sizes sizes) {
    try (HostEngine decoder = gguf(new TinyModel(sizes, SEED))) {
      float[][] expected = tokenByToken(decoder, TOKENS);
      // The order of sums differs, and a key near a rounding boundary of halves may round either
      // way.
      assertClose(inOneStep(decoder, TOKENS), doubles(expected), 1e-4);
    }
  }

  @Test
  void threeSequencesInOneStepEqualEachAlone() {
    int[][] texts = {{1, 2, 3, 4, 5}, {40}, {9, 8, 7}};
    try (HostEngine decoder = gguf(new TinyModel(Sizes.of("qwen3"), SEED));
        KvCache a = CacheSpec.DEFAULT.newCache(decoder.config().cacheShape());
        KvCache b = CacheSpec.DEFAULT.newCache(decoder.config().cacheShape());
        KvCache c = CacheSpec.DEFAULT.newCache(decoder.config().cacheShape())) {
      KvCache[] caches = {a, b, c};
      Batch batch = new Batch();
      for (int round = 0; round < 3; round++) {
        batch.clear();
        for (int s = 0; s < 3; s++) {
          // The first step reads the texts, later ones one token each, as in generation.
          int[] step = round == 0 ? texts[s] : new int[] {10 * s + round};
          for (int token : step) {
            batch.add(caches[s], token, true);
          }
        }
        decoder.forward(batch);
        int row = 0;
        for (int s = 0; s < 3; s++) {
          int[] whole = Arrays.copyOf(texts[s], texts[s].length + round);
          for (int i = 0; i < round; i++) {
            whole[texts[s].length + i] = 10 * s + i + 1;
          }
          assertThat(caches[s].length()).isEqualTo(whole.length);
          float[][] alone = tokenByToken(decoder, whole);
          row += round == 0 ? texts[s].length : 1;
          assertClose(
              new float[][] {row(batch, row - 1)},
              doubles(new float[][] {alone[whole.length - 1]}),
              1e-5);
        }
      }
    }
  }

  @Test
  void onlyRequestedRowsHaveLogits() {
    try (HostEngine decoder = gguf(new TinyModel(Sizes.of("llama"), SEED));
        KvCache cache = CacheSpec.DEFAULT.newCache(decoder.config().cacheShape())) {
      float[][] all = inOneStep(decoder, TOKENS);
      Batch batch = new Batch();
      int[] indexes = new int[TOKENS.length];
      for (int t = 0; t < TOKENS.length; t++) {
        indexes[t] = batch.add(cache, TOKENS[t], t == 2 || t == 11);
      }
      assertThat(indexes).containsExactly(-1, -1, 0, -1, -1, -1, -1, -1, -1, -1, -1, 1);
      decoder.forward(batch);
      assertThat(row(batch, 0)).isEqualTo(all[2]);
      assertThat(row(batch, 1)).isEqualTo(all[11]);
      assertThat(batch.logits()).hasSize(2 * 50);
    }
  }

  @Test
  void aStepWithoutLogitsStillFillsTheCache() {
    try (HostEngine decoder = gguf(new TinyModel(Sizes.of("llama"), SEED));
        KvCache cache = CacheSpec.DEFAULT.newCache(decoder.config().cacheShape())) {
      Batch batch = new Batch();
      batch.add(cache, 3, false);
      decoder.forward(batch);
      assertThat(cache.length()).isEqualTo(1);
      batch.clear();
      batch.add(cache, 14, true);
      decoder.forward(batch);
      assertThat(row(batch, 0)).isEqualTo(tokenByToken(decoder, TOKENS)[1]);
    }
  }

  @Test
  void weightsAreCountedOnceAndEntirely() {
    for (String family : List.of("llama", "qwen3", "qwen2", "qwen2moe", "qwen3moe")) {
      Sizes sizes = Sizes.of(family);
      TinyModel model = new TinyModel(sizes, SEED);
      long bytes = model.tensors.values().stream().mapToLong(t -> t.bytes().length).sum();
      try (HostEngine decoder = gguf(model)) {
        assertThat(decoder.weightBytes()).as(sizes.architecture()).isEqualTo(bytes);
      }
    }
  }

  @Test
  void anInvalidTokenOrPositionIsRejected() {
    TinyModel model = new TinyModel(Sizes.of("llama"), SEED);
    model.say("context_length", 4);
    try (HostEngine decoder = gguf(model);
        KvCache cache = CacheSpec.DEFAULT.newCache(decoder.config().cacheShape())) {
      for (int bad : new int[] {-1, 50}) {
        Batch batch = new Batch();
        batch.add(cache, bad, true);
        assertThatThrownBy(() -> decoder.forward(batch))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("token is %d; expected 0 to 49", bad);
      }
      Batch batch = new Batch();
      for (int i = 0; i < 5; i++) {
        batch.add(cache, i, true);
      }
      assertThatThrownBy(() -> decoder.forward(batch))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("position is 4; the context holds 4");
      assertThatThrownBy(() -> decoder.forward(new Batch()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the batch has no rows");
      assertThat(cache.length()).isZero();
    }
  }

  @Test
  void useAfterCloseFails() {
    HostEngine decoder = gguf(new TinyModel(Sizes.of("llama"), SEED));
    decoder.close();
    decoder.close();
    assertThatThrownBy(() -> decoder.forward(new Batch()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("this model is closed");
  }

  private HostEngine gguf(TinyModel model) {
    return TinyEngine.ofGguf(model.writeGguf(folder.resolve("tiny.gguf")), workers);
  }

  private HostEngine huggingFace(TinyModel model) {
    return TinyEngine.ofFolder(model.writeFolder(folder.resolve("tiny")), workers);
  }

  /** Returns the logits of {@link #TOKENS}; closes the decoder. */
  private static float[][] logits(HostEngine decoder) {
    return ofLoaded(decoder, TOKENS);
  }
}
