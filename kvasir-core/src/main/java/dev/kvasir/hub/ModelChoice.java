package dev.kvasir.hub;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The files of a repository that make the requested model.
 *
 * @param reference with the selector that was chosen
 * @param files all that have to be in the cache
 * @param entry path of the file to load; empty for the folder of the snapshot
 */
record ModelChoice(HubReference reference, List<HubFile> files, Optional<String> entry) {
  /** Selects a folder of safetensors where a repository has GGUF files too. */
  static final String SAFETENSORS = "safetensors";

  private static final int MAX_LISTED = 12;

  /**
   * Returns the files that a reference selects. Without a selector that is the GGUF model nearest
   * to Q4_K_M, or the safetensors folder of a repository without GGUF files.
   *
   * @throws InvalidInputException if nothing or more than one model fits; the sentence lists what
   *     the repository has
   */
  static ModelChoice of(HubReference reference, HubListing listing) {
    List<GgufModel> models = GgufModel.in(listing.files());
    Optional<String> selector = reference.selector();
    if (selector.filter(SAFETENSORS::equalsIgnoreCase).isPresent()
        || (selector.isEmpty() && models.isEmpty())) {
      return folder(reference, listing);
    }
    return selector.isPresent()
        ? selected(reference, selector.get(), models, listing).withProfile(listing)
        : nearest(reference, models).withProfile(listing);
  }

  /**
   * Adds the profile of a GGUF model: {@code MODEL.profile}, or the one of the folder. Loaders find
   * them, and reject one that belongs to another model.
   */
  private ModelChoice withProfile(HubListing listing) {
    String first = entry.orElseThrow();
    String folder = first.substring(0, first.lastIndexOf('/') + 1);
    Set<String> profiles =
        Set.of(
            folder + SafetensorsFiles.PROFILE, GgufModel.in(files).getFirst().name() + ".profile");
    List<HubFile> all = new ArrayList<>(files);
    listing.files().stream().filter(file -> profiles.contains(file.path())).forEach(all::add);
    return new ModelChoice(reference, List.copyOf(all), entry);
  }

  private static ModelChoice folder(HubReference reference, HubListing listing) {
    List<HubFile> files = SafetensorsFiles.of(reference, listing);
    return new ModelChoice(reference, files, Optional.empty());
  }

  private static ModelChoice nearest(HubReference reference, List<GgufModel> models) {
    int least =
        models.stream()
            .mapToInt(model -> QuantizationTag.distance(model.tag()))
            .min()
            .orElseThrow();
    return single(
        reference,
        models,
        models.stream().filter(model -> QuantizationTag.distance(model.tag()) == least).toList());
  }

  private static ModelChoice selected(
      HubReference reference, String selector, List<GgufModel> models, HubListing listing) {
    List<GgufModel> named = models.stream().filter(model -> model.isNamed(selector)).toList();
    if (!named.isEmpty()) {
      return single(reference, models, named);
    }
    List<GgufModel> tagged = tagged(models, selector);
    if (tagged.isEmpty()) {
      throw new InvalidInputException(
          "%s: has no '%s'; possible are %s"
              .formatted(reference, selector, alternatives(models, listing)));
    }
    return single(reference, models, tagged);
  }

  /** An exact tag is preferred to one with a prefix. */
  private static List<GgufModel> tagged(List<GgufModel> models, String selector) {
    List<GgufModel> exact =
        models.stream()
            .filter(model -> model.tag().filter(selector::equalsIgnoreCase).isPresent())
            .toList();
    return exact.isEmpty()
        ? models.stream().filter(model -> QuantizationTag.matches(model.tag(), selector)).toList()
        : exact;
  }

  private static ModelChoice single(
      HubReference reference, List<GgufModel> all, List<GgufModel> candidates) {
    List<GgufModel> found = preferred(candidates, GgufModel::complete);
    found = preferred(found, model -> model.parts().getFirst().isAtRoot());
    if (found.size() > 1) {
      throw new InvalidInputException(
          "%s: several models fit; name one of the files %s"
              .formatted(
                  reference, listed(found.stream().map(model -> model.parts().getFirst().path()))));
    }
    GgufModel model = found.getFirst();
    HubFile first = model.parts().getFirst();
    if (!model.complete()) {
      throw new InvalidInputException(
          "%s: has only %d parts of %s".formatted(reference, model.parts().size(), first.path()));
    }
    return new ModelChoice(
        reference.withSelector(shortSelector(model, all)),
        model.parts(),
        Optional.of(first.path()));
  }

  /** Returns the candidates with a property, or all if none has it. */
  private static List<GgufModel> preferred(List<GgufModel> all, Predicate<GgufModel> property) {
    List<GgufModel> with = all.stream().filter(property).toList();
    return with.isEmpty() ? all : with;
  }

  /** Returns the tag if it selects this model alone, else the first file. */
  static String shortSelector(GgufModel model, List<GgufModel> all) {
    Optional<String> tag = model.tag();
    boolean isUnique =
        tag.isPresent() && all.stream().filter(each -> each.tag().equals(tag)).count() == 1;
    return isUnique ? tag.get() : model.parts().getFirst().path();
  }

  private static String alternatives(List<GgufModel> models, HubListing listing) {
    Stream<String> names =
        models.stream()
            .sorted(
                Comparator.<GgufModel>comparingInt(model -> QuantizationTag.distance(model.tag()))
                    .thenComparing(GgufModel::name))
            .map(model -> shortSelector(model, models));
    boolean hasFolder = SafetensorsFiles.isIn(listing);
    return listed(hasFolder ? Stream.concat(names, Stream.of(SAFETENSORS)) : names);
  }

  static String listed(Stream<String> names) {
    List<String> all = names.distinct().toList();
    if (all.isEmpty()) {
      return "none";
    }
    String first = all.stream().limit(MAX_LISTED).collect(Collectors.joining(", "));
    return all.size() <= MAX_LISTED
        ? first
        : "%s and %d more".formatted(first, all.size() - MAX_LISTED);
  }
}
