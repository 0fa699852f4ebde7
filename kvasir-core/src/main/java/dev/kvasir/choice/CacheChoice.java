package dev.kvasir.choice;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A cache that was chosen by measured figures.
 *
 * @param spec the chosen cache
 * @param reason one sentence that says why
 * @param candidates all caches that it was chosen from, fp16 first, then by divergence
 */
public record CacheChoice(CacheSpec spec, String reason, List<CacheCandidate> candidates) {
  /** What users type to have a cache chosen. */
  public static final String AUTO = "auto";

  /**
   * A cache that is slower than fp16 is worth it only if all others that fit have more than this
   * multiple of its divergence.
   */
  private static final double WORTH_OF_SPEED = 2;

  private static final CacheFigure EXACT =
      new CacheFigure(CacheSpec.DEFAULT.text(), 0, OptionalDouble.of(1));

  public CacheChoice {
    candidates = List.copyOf(candidates);
  }

  /**
   * Chooses a cache: fp16 if it fits, else the one with the least divergence that fits and is not
   * slower than fp16. A slower one is chosen if all others that fit have more than twice its
   * divergence. Caches that need a calibration take part if the profile has it.
   *
   * @throws InvalidInputException if no cache fits; the message names the smallest
   */
  public static CacheChoice choose(ChoiceRequest request, CacheFigures figures) {
    List<CacheCandidate> candidates = candidates(request, figures);
    CacheCandidate exact = candidates.getFirst();
    if (exact.fits()) {
      return new CacheChoice(exact.spec(), exactFits(exact, request), candidates);
    }
    CacheCandidate best = best(candidates).orElseThrow(() -> nothingFits(request, candidates));
    return new CacheChoice(best.spec(), reason(best, exact, request, figures), candidates);
  }

  private static List<CacheCandidate> candidates(ChoiceRequest request, CacheFigures figures) {
    List<CacheCandidate> candidates = new ArrayList<>();
    candidates.add(CacheCandidate.of(CacheSpec.DEFAULT, EXACT, request));
    figures.rows().stream()
        .sorted(Comparator.comparingDouble(CacheFigure::divergence))
        .map(figure -> CacheCandidate.of(CacheSpec.parse(figure.spec()), figure, request))
        .forEach(candidates::add);
    return candidates;
  }

  private static Optional<CacheCandidate> best(List<CacheCandidate> candidates) {
    Optional<CacheCandidate> fastest = first(candidates, CacheCandidate.Status.FITS);
    Optional<CacheCandidate> slower = first(candidates, CacheCandidate.Status.SLOWER);
    if (fastest.isEmpty() || slower.isEmpty()) {
      return fastest.or(() -> slower);
    }
    boolean isWorthIt = fastest.get().divergence() > WORTH_OF_SPEED * slower.get().divergence();
    return isWorthIt ? slower : fastest;
  }

  private static Optional<CacheCandidate> first(
      List<CacheCandidate> candidates, CacheCandidate.Status status) {
    return candidates.stream().filter(each -> each.status() == status).findFirst();
  }

  private static InvalidInputException nothingFits(
      ChoiceRequest request, List<CacheCandidate> candidates) {
    CacheCandidate smallest =
        candidates.stream()
            .filter(each -> each.bytes().isPresent())
            .min(Comparator.comparingLong(each -> each.bytes().getAsLong()))
            .orElseThrow();
    return new InvalidInputException(
        "no cache holds %,d tokens in %s; '%s' takes %s, the least"
            .formatted(
                request.tokens(),
                size(request.memoryBytes()),
                smallest.spec(),
                size(smallest.bytes().getAsLong())));
  }

  private static String exactFits(CacheCandidate exact, ChoiceRequest request) {
    return "%s takes %s for %,d tokens, and there are %s"
        .formatted(
            exact.spec(),
            size(exact.bytes().getAsLong()),
            request.tokens(),
            size(request.memoryBytes()));
  }

  private static String reason(
      CacheCandidate best, CacheCandidate exact, ChoiceRequest request, CacheFigures figures) {
    String tooLarge =
        exact.bytes().isPresent()
            ? "fp16 would take %s".formatted(size(exact.bytes().getAsLong()))
            : exact.note();
    return "%,d tokens take %s of %s (%s); divergence %s%s by %s"
        .formatted(
            request.tokens(),
            size(best.bytes().getAsLong()),
            size(request.memoryBytes()),
            tooLarge,
            String.format(Locale.ROOT, "%.4f", best.divergence()),
            best.speed().isPresent()
                ? String.format(
                    Locale.ROOT, " and %.2f times the speed of fp16", best.speed().getAsDouble())
                : "",
            figures.source());
  }

  private static String size(long bytes) {
    if (bytes < 1L << 20) {
      return String.format(Locale.ROOT, "%.1f KiB", bytes / 0x1p10);
    }
    return bytes < 1L << 30
        ? String.format(Locale.ROOT, "%.1f MiB", bytes / 0x1p20)
        : String.format(Locale.ROOT, "%.1f GiB", bytes / 0x1p30);
  }
}
