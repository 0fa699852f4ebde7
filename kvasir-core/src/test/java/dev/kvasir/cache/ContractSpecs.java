package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ExampleSpecs;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
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
   * order. Without {@code -Dkvasir.thorough=true} only latent attention has the widest of them.
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

  private ContractSpecs() {}

  /**
   * Returns one example of each method, or all of them.
   *
   * @param index index among a method's examples, so that no two lists use the same ones
   */
  private static Stream<MethodExample> some(int index, Predicate<MethodExample> wanted) {
    return MethodRegistry.all().stream()
        .map(method -> method.examples().stream().filter(wanted).toList())
        .filter(own -> !own.isEmpty())
        .flatMap(own -> THOROUGH ? own.stream() : Stream.of(own.get(index % own.size())));
  }

  private static Stream<String> specs(int index, Predicate<MethodExample> wanted) {
    return some(index, wanted).map(MethodExample::spec);
  }

  /** Returns examples for heads of {@link #SHAPE}. */
  static Stream<String> specs() {
    return specs(3, any -> true);
  }

  /** Returns examples for heads of other shapes. */
  static Stream<String> fewSpecs() {
    return specs(1, ExampleSpecs::fitsAnyShape);
  }

  /** Returns examples for wide heads. */
  static Stream<String> quickSpecs() {
    return specs(0, ExampleSpecs::fitsAnyShape);
  }

  /** Returns examples of the methods that read values from keys, some with rotary channels. */
  static Stream<String> latentSpecs() {
    List<String> plain =
        specs(2, ExampleSpecs::fitsAnyShape)
            .filter(spec -> CacheSpec.parse(spec).config().supportsValuesInKeys())
            .filter(spec -> !spec.contains("v=") && !spec.contains("rope=static"))
            .toList();
    return Stream.concat(
        plain.stream(),
        plain.stream()
            .filter(spec -> !spec.matches("fp.*|bf.*"))
            .filter(spec -> !spec.contains("budget=10bits")) // too little for rotary channels
            .map(spec -> spec + ",rotary=16"));
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
            on(THOROUGH ? LARGE : LARGE.subList(0, 2), ContractSpecs::quickSpecs),
            latentKinds(),
            localKinds())
        .flatMap(some -> some);
  }

  /** Returns the kinds whose restored pages stay mapped, with windows that hold blocks of them. */
  static Stream<ShapedSpec> kindsThatStayMapped() {
    Stream<String> methods = fewSpecs().filter(spec -> !has(spec, Trait.COPIES_MAPPED_PAGES));
    return Stream.concat(
            methods.map(spec -> new ShapedSpec(SHAPE, spec)),
            latentSpecs()
                .filter(spec -> spec.contains("rotary="))
                .map(spec -> new ShapedSpec(LATENT.getFirst(), spec)))
        .map(kind -> new ShapedSpec(kind.shape(), ExampleSpecs.withWindow(kind.spec(), 0)));
  }

  private static boolean has(String spec, Trait trait) {
    return ExampleSpecs.method(spec).examples().stream()
        .anyMatch(example -> example.spec().equals(spec) && example.has(trait));
  }

  /** Returns whether a kind is tested for the width of its heads alone. */
  static boolean isOfAnotherShape(ShapedSpec kind) {
    return !THOROUGH && (TWO_WIDTHS.contains(kind.shape()) || LARGE.contains(kind.shape()));
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

  /**
   * Widths of heads affect neither which blocks sequences share nor when tokens are quantized, so
   * {@code -Dkvasir.thorough=true} alone tries all. Excludes code searches for large heads, which
   * take seconds per page.
   */
  static Stream<ShapedSpec> kindsThatQuantizeQuickly() {
    return (THOROUGH ? kinds() : storedKinds()).filter(ContractSpecs::quantizesQuickly);
  }

  static boolean quantizesQuickly(ShapedSpec kind) {
    return !has(kind.spec(), Trait.SLOW_ENCODER) || kind.shape().keyDim() <= 96;
  }

  static Stream<ShapedSpec> kindsThatKeepConstants() {
    return kinds().filter(kind -> !has(kind.spec(), Trait.ALTERS_CONSTANTS));
  }

  /**
   * Excludes methods that learn from the first quantized tokens or from a step's queries, and those
   * that requantize: a long step needs memory for all its tokens at once.
   */
  static Stream<ShapedSpec> kindsThatLearnNothing() {
    return kindsThatQuantizeQuickly()
        .filter(kind -> !learns(kind))
        .filter(
            kind ->
                !kind.spec().contains("budget=")
                    || kind.spec().contains("1MiB")
                    || kind.spec().contains("pool")
                    || kind.spec().contains("20bits"));
  }

  private static boolean learns(ShapedSpec kind) {
    try (KvCache cache = CodecContractTest.open(kind)) {
      return cache.isStateful() || cache.dependsOnAttention();
    }
  }
}
