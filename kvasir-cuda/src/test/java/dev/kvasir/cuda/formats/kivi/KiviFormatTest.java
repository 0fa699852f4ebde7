package dev.kvasir.cuda.formats.kivi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Widths of keys, values and layers on a device, without one. */
class KiviFormatTest {
  private static final KiviFormat BY_LAYER =
      new KiviFormat(List.of(new CodeWidths(4, 2), new CodeWidths(1, 8), new CodeWidths(4, 2)));

  private static DeviceCacheConfig config(String spec, Profile profile) {
    try (GgufFile file = BundledFiles.open()) {
      FormatRequest.LoadedModel model =
          new FormatRequest.LoadedModel(ModelConfig.of(file), new ModelTables());
      return DeviceCacheConfig.of(
          FormatRequest.forCache(
              CacheSpec.parse(spec), Optional.ofNullable(profile), Optional.of(model)));
    }
  }

  private static int layers() {
    try (GgufFile file = BundledFiles.open()) {
      return ModelConfig.of(file).layers();
    }
  }

  @Test
  void layersOfOneWidthAreOne() {
    CodeWidths same = new CodeWidths(3, 3);
    assertThat(new KiviFormat(List.of(same, same))).isEqualTo(new KiviFormat(3));
    assertThat(BY_LAYER.differsByLayer()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"2, 2, kivi2", "4, 4, kivi4", "2, 4, kivi", "1, 1, kivi", "8, 8, kivi"})
  void frequentWidthsHaveKernelsOfTheirOwn(int keys, int values, String kernel) {
    KiviFormat format = new KiviFormat(keys, values);
    assertThat(format.kernelName()).isEqualTo(kernel);
    assertThat(format.prefillReadsPacked()).isEqualTo(!kernel.equals("kivi"));
    assertThat(format.limitedKernel("attend"))
        .isEqualTo(kernel.equals("kivi") ? "attend" : "attend_limited");
    assertThat(format.maxHeads(128)).isEqualTo(kernel.equals("kivi") ? 4 : 8);
  }

  @Test
  void layersFollowEachOtherInAPage() {
    CacheShape shape = new CacheShape(3, 2, 64);
    AttentionShape heads = new AttentionShape(8, 2, 64);
    assertThat(BY_LAYER.pageBytes(64)).isEqualTo(5632);
    assertThat(BY_LAYER.packedBytes(shape)).isEqualTo(2 * (4096 + 5632 + 4096));
    assertThat(BY_LAYER.packedOffset(null, heads, 0)).isZero();
    assertThat(BY_LAYER.packedOffset(null, heads, 1)).isEqualTo(2 * 4096);
    assertThat(BY_LAYER.packedOffset(null, heads, 2)).isEqualTo(2 * (4096 + 5632));
    assertThat(BY_LAYER.codeBytes(shape)).isEqualTo(2 * 64 * 64 * (6 + 9 + 6) / 8);
    assertThat(new KiviFormat(3).codeBytes(shape)).isEqualTo(3 * 2 * 64 * 64 * 6 / 8);
  }

  @Test
  void kernelsTakeTheWidthsOfLayers() {
    AttentionShape heads = new AttentionShape(8, 2, 64);
    MemorySegment argument = Arena.ofAuto().allocate(16 + LayerCodes.BYTES, 8);
    LayerCodes.write(BY_LAYER, heads, argument, 16);
    assertThat(argument.asSlice(16, 32).toArray(JAVA_INT))
        .containsExactly(3, 0, 0, 0x204, 2 * 4096 / 128, 0x801, 2 * (4096 + 5632) / 128, 0x204);
    LayerCodes.write(new KiviFormat(8), heads, argument, 16);
    assertThat(argument.asSlice(16, 16).toArray(JAVA_INT)).containsExactly(1, 0, 0, 0x808);
    assertThat(BY_LAYER.codeWidths(1)).isEqualTo(0x801);
    assertThat(new KiviFormat(2, 3).codeWidths(7)).isEqualTo(0x302);
  }

  /** Stored pages of one cache must not be read by another. */
  @Test
  void storedWidthsAreDistinct() {
    List<KiviFormat> formats =
        List.of(
            new KiviFormat(2),
            new KiviFormat(4),
            new KiviFormat(4, 2),
            new KiviFormat(2, 4),
            BY_LAYER,
            new KiviFormat(List.of(new CodeWidths(1, 8), new CodeWidths(4, 2))),
            new KiviFormat(List.of(new CodeWidths(4, 2), new CodeWidths(1, 8))));
    assertThat(formats.stream().map(each -> each.storedWidths() + " " + each.storedPageBytes(64)))
        .doesNotHaveDuplicates();
    assertThat(BY_LAYER.storedPageBytes(64)).isNotEqualTo(BY_LAYER.storedPageBytes(128));
  }

  @Test
  void widthsOfAProfileAreThoseOfTheHost() {
    float[] widths = new float[layers()];
    for (int layer = 0; layer < widths.length; layer++) {
      widths[layer] = List.of(2, 1, 8, 3).get(layer % 4);
    }
    Profile profile = Profile.empty("m").with(LayerWidths.KEY, widths, widths.length);
    DeviceCacheConfig config = config("kivi:2,widths=profile,window=0,sinks=3", profile);
    KiviFormat format = (KiviFormat) config.format();
    assertThat(config.window()).isZero();
    assertThat(config.sinks()).isEqualTo(3);
    assertThat(format.layers()).hasSize(widths.length);
    for (int layer = 0; layer < widths.length; layer++) {
      int bits = (int) widths[layer];
      assertThat(format.layer(layer)).isEqualTo(new CodeWidths(bits, bits));
    }
  }

  @Test
  void sensitivitiesGiveKeysAndValuesOfLayersTheirWidths() {
    assertThat(config("kvtuner:3,group=32", null))
        .isEqualTo(new DeviceCacheConfig(new KiviFormat(4, 2), 32, 128, 0));
    assertThat(config("kvtuner:4", null).format()).isEqualTo(new KiviFormat(4));
    Profile profile = BundledFiles.profile().orElseThrow();
    assertThat(
            LayerSensitivities.find(
                Optional.of(profile), LayerSensitivities.KeyScales.CHANNEL, layers()))
        .isPresent();
    KiviFormat format = (KiviFormat) config("kvtuner:3", profile).format();
    assertThat(format.differsByLayer()).isTrue();
    assertThat(format.layers().stream().mapToInt(each -> each.keys() + each.values()).sum())
        .isLessThanOrEqualTo(3 * 2 * layers());
  }

  @ParameterizedTest
  @ValueSource(strings = {"kivi:2,widths=profile", "kvtuner:3,widths=profile"})
  void aMissingProfileIsNamedLikeOnTheHost(String spec) {
    assertThatThrownBy(() -> config(spec, null)).isInstanceOf(InvalidInputException.class);
  }

  /** A part whose layers happen to be alike keeps the kernels of the others, which sum alike. */
  @Test
  void partsHaveTheWidthsOfTheirLayersAndTheSameKernels() {
    KiviFormat whole =
        new KiviFormat(List.of(new CodeWidths(8, 1), new CodeWidths(2, 2), new CodeWidths(2, 2)));
    KiviFormat first = (KiviFormat) whole.ofLayers(new LayerRange(0, 2, 3));
    KiviFormat last = (KiviFormat) whole.ofLayers(new LayerRange(1, 2, 3));
    assertThat(first.layers()).containsExactly(new CodeWidths(8, 1), new CodeWidths(2, 2));
    assertThat(last.layers()).containsExactly(new CodeWidths(2, 2));
    assertThat(last).isNotEqualTo(new KiviFormat(2));
    for (KiviFormat part : List.of(first, last)) {
      assertThat(part.kernelName()).isEqualTo(whole.kernelName()).isEqualTo("kivi");
      assertThat(part.maxHeads(64)).isEqualTo(whole.maxHeads(64));
      assertThat(part.prefillReadsPacked()).isEqualTo(whole.prefillReadsPacked());
    }
    CacheShape two = new CacheShape(2, 2, 64);
    CacheShape one = new CacheShape(1, 2, 64);
    assertThat(first.packedBytes(two) + whole.ofLayers(new LayerRange(2, 1, 3)).packedBytes(one))
        .isEqualTo(whole.packedBytes(new CacheShape(3, 2, 64)));
    assertThat(new KiviFormat(2).ofLayers(new LayerRange(1, 2, 3))).isEqualTo(new KiviFormat(2));
  }

  @Test
  void formatsAreNamedLikeTheirSpecs() {
    assertThat(new KiviFormat(3)).hasToString("kivi:3");
    assertThat(new KiviFormat(4, 2)).hasToString("kivi,k=4,v=2");
    assertThat(BY_LAYER).hasToString("kivi with widths by layer");
  }
}
