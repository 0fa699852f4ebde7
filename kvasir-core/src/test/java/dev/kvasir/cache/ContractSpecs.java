package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.QuantizationMethod;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.profile.Profile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The caches that the contract tests cover. Every list has one spec of each method, unless {@code
 * -Dkvasir.thorough=true} selects all of them.
 */
final class ContractSpecs {
  static final boolean THOROUGH = Boolean.getBoolean("kvasir.thorough");

  private static final CacheShape SHAPE = new CacheShape(2, 2, 20);

  /** Values narrower than keys, and wider ones. */
  private static final List<CacheShape> TWO_WIDTHS =
      List.of(new CacheShape(2, 2, 24, 12), new CacheShape(1, 3, 20, 36));

  /**
   * Heads of real models, some of which do not fill whole vectors, groups or bytes of a channel
   * order.
   */
  private static final List<CacheShape> LARGE =
      List.of(
          new CacheShape(1, 1, 80), new CacheShape(1, 2, 192, 128), new CacheShape(1, 1, 576, 512));

  /** Latent attention: values are the first channels of keys. */
  private static final List<CacheShape> LATENT =
      List.of(
          new CacheShape(2, 1, 36, 28, ValueOrigin.IN_KEYS),
          new CacheShape(1, 2, 24, 24, ValueOrigin.IN_KEYS),
          new CacheShape(1, 1, 576, 512, ValueOrigin.IN_KEYS));

  /** Sliding-window layers, one of them shorter than most residual windows. */
  private static final List<CacheShape> LOCAL =
      List.of(
          new CacheShape(3, 1, 20)
              .withWindows(new LayerWindows(List.of(50, LayerWindows.UNBOUNDED, 300))),
          new CacheShape(2, 1, 24, 16, ValueOrigin.IN_KEYS)
              .withWindows(new LayerWindows(List.of(130, 400))));

  /** Methods that transform the basis of vectors before quantization. */
  private static final List<String> ROTATED =
      List.of("quarot", "turboquant", "rotatekv", "kvarn", "oscar");

  private ContractSpecs() {}

  /**
   * Returns one spec of each method, or all of them.
   *
   * @param index index among a method's specs, so that no two lists use the same ones
   */
  private static Stream<String> some(int index, String... specs) {
    if (THOROUGH) {
      return Stream.of(specs);
    }
    Map<QuantizationMethod, List<String>> byMethod =
        Stream.of(specs)
            .collect(
                Collectors.groupingBy(
                    spec -> CacheSpec.parse(spec).method(),
                    LinkedHashMap::new,
                    Collectors.toList()));
    return byMethod.values().stream().map(own -> own.get(index % own.size()));
  }

  static Stream<String> specs() {
    return some(
        3,
        "fp32",
        "fp16",
        "bf16",
        "kivi:8",
        "kivi:4",
        "kivi:3,group=64",
        "kivi:2",
        "kivi:2,group=32,window=0",
        "kivi:1,sinks=5",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "kivi:4,window=300,sinks=130",
        "kivi:2,sinks=256,lookup=fast",
        "patternkv:2",
        "patternkv:4,sinks=5,window=40",
        "patternkv:2,rope=static",
        "patternkv:4,rope=static,window=0",
        "patternkv:2,rope=static,patterns=4,sinks=5",
        "patternkv:3,rope=static,k=4,v=2,group=32,patterns=255,window=40",
        "patternkv:2,rope=static,new-patterns=off,v-threshold=off",
        "patternkv:2,k-patterns=off",
        "patternkv:2,rope=static,v-patterns=off,window=300,sinks=130",
        "patternkv:1,k-patterns=off,v-patterns=off",
        "mixkvq,high=2.8,mid=2",
        "mixkvq,high=3.2,mid=2.6,queries=sequence,sinks=0,window=0",
        "mixkvq,high=2.6,mid=3,group=64,window=40,lookup=fast",
        "mixkvq,high=2.8,mid=2,residual=256,sinks=5",
        "mixkvq,high=1.9,mid=1.7,salience=error,group=128",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=384,sinks=130",
        "mixkvq,high=1000,mid=1000",
        "mixkvq,high=0.0001,mid=0.0001",
        "pmkvq:2,budget=1MiB,keys=token", // all 16 bits
        "pmkvq:2,budget=260KiB,keys=token,shrink=layer",
        "pmkvq:2,budget=200KiB,shift=direct,keys=token,shrink=layer,born=wide",
        "pmkvq:2,budget=200KiB,shift=modified,window=40,sinks=16",
        "pmkvq:4,budget=240KiB,window=0,sinks=0",
        "pmkvq:8,budget=360KiB,sinks=130",
        "pmkvq:2,budget=1MiB",
        "pmkvq:2,budget=220KiB,shrink=layer",
        "pmkvq:2,budget=260KiB,keys=token",
        "pmkvq:2,budget=260KiB",
        "commvq:1",
        "commvq:2,window=0,beam=1",
        "commvq:2,window=40,sinks=130",
        "ott:2,k=3,group=32,outliers=2,sinks=5",
        "zipcache:2,window=40,sinks=5",
        "mikv:2,share=0.1,window=0",
        "skvq:2,group=32,window=40",
        "skvq:3,v=2,reorder=off,sinks=0",
        "kvquant:2,window=0",
        "kvquant:3,rope=after,levels=even,outliers=0",
        "kvtuner:3,group=32,sinks=5",
        "quarot:2,window=40,sinks=5",
        "turboquant:2,sinks=5",
        "rotatekv:2",
        "qserve:4,sinks=5",
        "kvarn:2,sinks=5",
        "oscar:2,window=40",
        "vqllm:2,sinks=5",
        "mead:2",
        "mead:1.5,tables=off,first=coded,window=0",
        "mead:3,tables=centroids,sinks=5,window=40",
        "mead:1.5,tables=off,late-sinks=8,sinks=0",
        "mead:2.5,budget=210KiB",
        "mead:8,budget=170KiB,window=0,sinks=0,first=coded",
        "mead:4,budget=190KiB,floor=1.5,window=40,tables=centroids,first=coded,means=off",
        "mead:3,budget=pool,tables=off,sinks=5",
        "mead:2.5,classes=energy,means=off,sinks=130",
        "toy",
        "toy,window=0,sinks=5");
  }

  /** Specs for heads of other shapes. */
  static Stream<String> fewSpecs() {
    return some(
        1,
        "fp32",
        "fp16",
        "bf16",
        "kivi:2",
        "kivi:3,k=4,group=32,window=0,sinks=5",
        "patternkv:2,window=40",
        "patternkv:4,rope=static,patterns=4,sinks=5",
        "patternkv:2,k-patterns=off",
        "patternkv:1,v-patterns=off",
        "mixkvq,high=2.8,mid=2",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=256",
        "pmkvq:2,budget=10bits,keys=token",
        "pmkvq:2,budget=20bits",
        "pmkvq:2,budget=10bits,shrink=layer,sinks=5",
        "commvq:1,beam=1",
        "commvq:2,beam=1,window=0",
        "ott:2,window=40",
        "zipcache:1,keys=token,share=0.9",
        "mikv:2,high=4",
        "skvq:2,group=32",
        "kvquant:2,v=4,outliers=8",
        "kvtuner:3",
        "quarot:3,k=4,group=32,window=0",
        "turboquant:3,k=4,window=0",
        "rotatekv:3,heads=1,order=off,sinks=0",
        "qserve:2,window=0",
        "kvarn:3,group=32,window=0",
        "oscar:3,k=4,group=32,sinks=5",
        "vqllm:1,window=0",
        "mead:2,first=coded",
        "mead:2.5,tables=centroids,window=0",
        "mead:4,budget=10bits,first=coded",
        "toy,sinks=5");
  }

  /** Specs for heads that take long. */
  static Stream<String> quickSpecs() {
    return some(
        0,
        "fp16",
        "kivi:2",
        "kivi:3,k=4,group=32,window=0,sinks=5",
        "patternkv:2,patterns=4,window=40",
        "mixkvq,high=2.8,mid=2",
        "mixkvq,high=1.9,mid=1.7,salience=error",
        "pmkvq:2,budget=10bits",
        "pmkvq:2,budget=10bits,keys=token",
        "commvq:1,beam=1",
        "kvquant:2",
        "ott:2",
        "zipcache:2",
        "mikv:2",
        "skvq:2,group=32",
        "kvtuner:5",
        "qserve:4",
        "kvarn:2,rounds=2",
        "oscar:2",
        "vqllm:2",
        "quarot:2",
        "turboquant:2",
        "rotatekv:2",
        "mead:2,first=coded",
        "toy");
  }

  /** Specs of methods that read values from keys. */
  static Stream<String> latentSpecs() {
    return some(
        2,
        "fp32",
        "fp16",
        "bf16",
        "kivi:2",
        "kivi:3,group=32,window=0,sinks=5",
        "kivi:4,sinks=130,lookup=fast",
        "kivi:2,rotary=16",
        "patternkv:2,window=40",
        "patternkv:4,patterns=4,sinks=5,rotary=16",
        "patternkv:2,k-patterns=off",
        "mixkvq,high=2.8,mid=2",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=256,rotary=16",
        "pmkvq:2,budget=30bits",
        "pmkvq:2,budget=14bits,keys=token",
        "pmkvq:2,budget=14bits,shrink=layer,sinks=5,rotary=16");
  }

  static Stream<ShapedSpec> latentKinds() {
    List<CacheShape> turning = LATENT.stream().filter(ContractSpecs::hasRotary).toList();
    return Stream.concat(
        on(LATENT, () -> latentSpecs().filter(spec -> !spec.contains("rotary="))),
        on(turning, () -> latentSpecs().filter(spec -> spec.contains("rotary="))));
  }

  private static boolean hasRotary(CacheShape shape) {
    return shape.keyDim() > shape.valueDim();
  }

  static Stream<ShapedSpec> localKinds() {
    return Stream.concat(
        on(LOCAL.subList(0, 1), ContractSpecs::quickSpecs),
        on(LOCAL.subList(1, 2), ContractSpecs::latentSpecs));
  }

  /** All specs, and some of every method on heads of other shapes. */
  static Stream<ShapedSpec> kinds() {
    return Stream.of(
            specs().map(spec -> new ShapedSpec(SHAPE, spec)),
            on(TWO_WIDTHS, ContractSpecs::fewSpecs),
            on(LARGE, ContractSpecs::quickSpecs),
            latentKinds(),
            localKinds())
        .flatMap(some -> some);
  }

  /**
   * Every method except toy, which copies, and mead, whose values have another layout in memory;
   * with windows that hold whole blocks.
   */
  static Stream<ShapedSpec> kindsThatStayMapped() {
    Stream<String> methods =
        fewSpecs().filter(spec -> !spec.startsWith("toy") && !spec.startsWith("mead"));
    return Stream.concat(
            methods.map(spec -> new ShapedSpec(SHAPE, spec)),
            latentSpecs()
                .filter(spec -> spec.contains("rotary="))
                .map(spec -> new ShapedSpec(LATENT.getFirst(), spec)))
        .map(kind -> new ShapedSpec(kind.shape(), withoutWindow(kind.spec())));
  }

  private static String withoutWindow(String spec) {
    boolean isDense = List.of("fp32", "fp16", "bf16").contains(spec);
    return isDense || spec.contains("window=") ? spec : spec + ",window=0";
  }

  /** Other tests cover the serialized pages of other shapes. */
  static Stream<ShapedSpec> storedKinds() {
    return Stream.of(specs().map(spec -> new ShapedSpec(SHAPE, spec)), latentKinds(), localKinds())
        .flatMap(some -> some);
  }

  /**
   * Pairs specs and shapes in turn, so that each occurs. {@code -Dkvasir.thorough=true} tries all
   * specs on all shapes.
   */
  private static Stream<ShapedSpec> on(
      List<CacheShape> shapes, Supplier<Stream<String>> someSpecs) {
    List<String> specs = someSpecs.get().toList();
    if (THOROUGH) {
      return shapes.stream().flatMap(shape -> specs.stream().map(s -> new ShapedSpec(shape, s)));
    }
    return IntStream.range(0, specs.size())
        .mapToObj(i -> new ShapedSpec(shapes.get(i % shapes.size()), specs.get(i)));
  }

  /** Returns a profile with the codebooks that specs need; those of large heads take long. */
  static Profile profile(CacheShape shape) {
    int[] widths =
        Stream.concat(kinds(), kindsThatStayMapped())
            .filter(kind -> kind.shape().equals(shape) && kind.spec().startsWith("commvq:"))
            .mapToInt(kind -> kind.spec().charAt("commvq:".length()) - '0')
            .distinct()
            .toArray();
    return SyntheticProfileParts.addTo(SyntheticCodebooks.profile(shape, widths), shape);
  }

  static Stream<ShapedSpec> kindsThatStoreValues() {
    return kinds().filter(kind -> !kind.shape().hasValuesInKeys());
  }

  /** Excludes code searches for large heads, which take seconds per page. */
  static Stream<ShapedSpec> kindsThatQuantizeQuickly() {
    return kinds().filter(ContractSpecs::quantizesQuickly);
  }

  static boolean quantizesQuickly(ShapedSpec kind) {
    boolean searches = kind.spec().startsWith("commvq") || kind.spec().startsWith("vqllm");
    return !searches || kind.shape().keyDim() <= 96;
  }

  /**
   * Excludes methods that quantize keys before rotation, or rotated keys, which are not constant
   * then. Also excludes those that divide channels by factors, since division is not always exact.
   */
  static Stream<ShapedSpec> kindsThatKeepConstants() {
    return kinds()
        .filter(kind -> !ranksTokens(kind))
        .filter(kind -> ROTATED.stream().noneMatch(kind.spec()::startsWith))
        .filter(kind -> !kind.spec().startsWith("commvq"))
        .filter(kind -> !kind.spec().startsWith("vqllm"))
        .filter(kind -> !kind.spec().startsWith("mead"))
        .filter(kind -> !kind.spec().startsWith("kvquant") || kind.spec().contains("rope=after"))
        .filter(
            kind ->
                !kind.spec().startsWith("patternkv")
                    || kind.spec().contains("rope=static")
                    || kind.spec().contains("k-patterns=off"));
  }

  /**
   * Excludes methods that learn from the first quantized tokens or from a step's queries, and those
   * that requantize: a long step needs memory for all its tokens at once.
   */
  static Stream<ShapedSpec> kindsThatLearnNothing() {
    return kindsThatQuantizeQuickly()
        .filter(kind -> !kind.spec().startsWith("patternkv"))
        .filter(kind -> !ranksTokens(kind))
        .filter(kind -> !kind.spec().startsWith("mixkvq") || kind.spec().contains("salience=error"))
        .filter(
            kind ->
                !kind.spec().contains("budget=")
                    || kind.spec().contains("1MiB")
                    || kind.spec().contains("pool")
                    || kind.spec().contains("20bits"));
  }

  private static boolean ranksTokens(ShapedSpec kind) {
    return kind.spec().startsWith("zipcache") || kind.spec().startsWith("mikv");
  }
}
