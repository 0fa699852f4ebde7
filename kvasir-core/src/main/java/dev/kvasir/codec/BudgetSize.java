package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A memory budget as the user types it. It is either a number of bytes ({@code 512MiB}) or bits per
 * value, everything included, at the longest sequence ({@code 4bits}).
 */
public record BudgetSize(double amount, String unit) {
  /** The spec value for a budget that all sequences of a model share. */
  private static final String POOL = "pool";

  private static final Pattern TYPED = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(KiB|MiB|GiB|bits)");

  /** Larger than any machine, yet small enough that fractions of it do not overflow. */
  private static final double MAX_BYTES = 0x1p40;

  /**
   * Returns whether pages keep their bit width until the memory shared by all sequences is full.
   */
  public static boolean isPooled(SpecText spec) {
    return POOL.equals(spec.value("budget"));
  }

  /** Returns the budget of a single sequence, if the spec has one. */
  public static Optional<BudgetSize> in(SpecText spec) {
    return spec.has("budget") && !isPooled(spec) ? Optional.of(of(spec)) : Optional.empty();
  }

  private static BudgetSize of(SpecText spec) {
    String typed = spec.value("budget");
    Matcher matcher = TYPED.matcher(typed);
    if (!matcher.matches()) {
      throw spec.invalid(
          "budget is '%s'; expected bytes, as in 512MiB or 2GiB, bits per value, as in 4bits, or pool"
              .formatted(typed));
    }
    BudgetSize size = new BudgetSize(Double.parseDouble(matcher.group(1)), matcher.group(2));
    if (size.amount * size.scale() > MAX_BYTES) {
      throw spec.invalid("budget is %s; expected at most 1024GiB".formatted(typed));
    }
    return size;
  }

  private boolean isPerValue() {
    return unit.equals("bits");
  }

  private double scale() {
    return switch (unit) {
      case "KiB" -> 0x1p10;
      case "MiB" -> 0x1p20;
      case "GiB" -> 0x1p30;
      default -> 1;
    };
  }

  /**
   * Returns the budget for a cache that requantizes its pages under memory pressure. Recurrent
   * states count in a budget of bytes, and its pages have the rest; bits per value are those of
   * keys and values alone.
   */
  public CacheBudget budget(
      String spec, CacheShape shape, CacheContext context, RequantizeScope scope) {
    int tokens = isPerValue() ? requireContextLimit(spec, context) : 0;
    long bytes = bytes(spec, shape, tokens);
    long states = isPerValue() ? 0 : shape.state().recentBytes();
    if (states > 0 && states >= bytes) {
      throw new InvalidInputException(
          "the cache '%s' has %d bytes; the recurrent states of a sequence take %d"
              .formatted(spec, bytes, states));
    }
    return CacheBudget.of(spec, bytes - states, scope, context.workers());
  }

  /**
   * Returns the maximum sequence length.
   *
   * @throws InvalidInputException if the length is unknown
   */
  public static int requireContextLimit(String spec, CacheContext context) {
    if (context.contextLimit() == 0) {
      throw new InvalidInputException(
          ("the cache '%s' must know how long a sequence may grow; give its budget in bytes, as in"
                  + " budget=512MiB")
              .formatted(spec));
    }
    return context.contextLimit();
  }

  /**
   * Returns the budget in bytes.
   *
   * @param tokens the maximum sequence length
   */
  private long bytes(String spec, CacheShape shape, int tokens) {
    double bytes = isPerValue() ? amount / 8 * shape.valuesPerToken() * tokens : amount * scale();
    if (bytes > MAX_BYTES) {
      throw new InvalidInputException(
          "the cache '%s': its budget is %.0f bytes for %d tokens; expected at most 1024GiB"
              .formatted(spec, bytes, tokens));
    }
    return (long) bytes;
  }
}
