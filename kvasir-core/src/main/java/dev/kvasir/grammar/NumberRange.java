package dev.kvasir.grammar;

import static dev.kvasir.grammar.Expression.choice;
import static dev.kvasir.grammar.Expression.literal;
import static dev.kvasir.grammar.Expression.repeat;
import static dev.kvasir.grammar.Expression.sequence;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;

/**
 * Numbers between bounds, exactly: digit by digit, as long as what is written equals the beginning
 * of a bound. They have no exponent.
 *
 * @param least null for none
 * @param most null for none
 * @param aboveLeast whether the least itself is left out
 * @param belowMost whether the most itself is left out
 */
record NumberRange(
    BigDecimal least, boolean aboveLeast, BigDecimal most, boolean belowMost, boolean whole) {
  private static final Expression NO_NUMBER = choice();

  Expression expression() {
    return whole ? wholeBounds().signed() : signed();
  }

  /** Of whole numbers the next that is within. */
  private NumberRange wholeBounds() {
    BigDecimal low = least;
    if (low != null) {
      low = low.setScale(0, RoundingMode.CEILING);
      low = aboveLeast && low.compareTo(least) == 0 ? low.add(BigDecimal.ONE) : low;
    }
    BigDecimal high = most;
    if (high != null) {
      high = high.setScale(0, RoundingMode.FLOOR);
      high = belowMost && high.compareTo(most) == 0 ? high.subtract(BigDecimal.ONE) : high;
    }
    return new NumberRange(low, false, high, false, true);
  }

  private Expression signed() {
    if (least != null && most != null && least.compareTo(most) > 0) {
      return NO_NUMBER;
    }
    List<Expression> signs = new ArrayList<>();
    if (most == null || most.signum() >= 0) {
      boolean fromZero = least == null || least.signum() < 0;
      signs.add(
          new Magnitudes(
                  fromZero ? BigDecimal.ZERO : least,
                  !fromZero && aboveLeast,
                  most,
                  belowMost,
                  whole)
              .expression());
    }
    if (least == null || least.signum() < 0) {
      boolean fromZero = most == null || most.signum() >= 0;
      signs.add(
          sequence(
              literal("-"),
              new Magnitudes(
                      fromZero ? BigDecimal.ZERO : most.negate(),
                      fromZero || belowMost,
                      least == null ? null : least.negate(),
                      aboveLeast,
                      whole)
                  .expression()));
    }
    return new Expression.Choice(signs);
  }

  /** Numbers of zero or more, the least of which is known. */
  private static final class Magnitudes {
    private static final int MOST_DIGITS = 18;
    private static final Expression DIGIT = JsonText.oneOf(JsonText.DIGITS);

    private final boolean aboveLeast;
    private final boolean belowMost;
    private final boolean whole;
    private final int fraction; // digits behind the point that the bounds have
    private final String low; // digits of the least, those behind the point included
    private final String high; // null where there is no most

    Magnitudes(
        BigDecimal least, boolean aboveLeast, BigDecimal most, boolean belowMost, boolean whole) {
      this.aboveLeast = aboveLeast;
      this.belowMost = belowMost;
      this.whole = whole;
      int highScale = most == null ? 0 : most.stripTrailingZeros().scale();
      this.fraction = Math.max(0, Math.max(least.stripTrailingZeros().scale(), highScale));
      this.low = digits(least);
      this.high = most == null ? null : digits(most);
    }

    /** At least one before the point, no needless zero among those. */
    private String digits(BigDecimal value) {
      String all = value.movePointRight(fraction).toBigIntegerExact().toString();
      return "0".repeat(Math.max(0, fraction + 1 - all.length())) + all;
    }

    Expression expression() {
      int shortest = low.length() - fraction;
      int longest = high == null ? Math.max(MOST_DIGITS, shortest) : high.length() - fraction;
      List<Expression> lengths = new ArrayList<>();
      for (int length = shortest; length <= longest; length++) {
        lengths.add(from(0, length, length == shortest, high != null && length == longest));
      }
      return new Expression.Choice(lengths);
    }

    /**
     * What may follow {@code at} digits of a number that has {@code length} before its point.
     *
     * @param onLow whether the digits so far are those of the least
     * @param onHigh whether the digits so far are those of the most
     */
    private Expression from(int at, int length, boolean onLow, boolean onHigh) {
      if (at < length) {
        return digit(at, length, onLow, onHigh);
      }
      Expression further = whole ? NO_NUMBER : further(at, length, onLow, onHigh);
      Expression pointed = at == length ? sequence(literal("."), further) : further;
      return mayStop(at, onLow, onHigh) ? choice(Expression.EMPTY, pointed) : pointed;
    }

    /** One digit, and what may follow it. */
    private Expression digit(int at, int length, boolean onLow, boolean onHigh) {
      int least = onLow ? low.charAt(at) : at == 0 && length > 1 ? '1' : '0';
      int most = onHigh ? high.charAt(at) : '9';
      List<Expression> ways = new ArrayList<>();
      int first = least;
      int last = most;
      if (onLow && onHigh && least == most) {
        return sequence(digit(least), from(at + 1, length, true, true));
      }
      if (onLow) {
        ways.add(sequence(digit(first++), from(at + 1, length, true, false)));
      }
      if (onHigh && last >= first) {
        ways.add(sequence(digit(last--), from(at + 1, length, false, true)));
      }
      if (first <= last) {
        Expression between = JsonText.oneOf(CodePoints.range(first, last));
        ways.add(sequence(between, free(at + 1, length)));
      }
      return new Expression.Choice(ways);
    }

    private static Expression digit(int digit) {
      return JsonText.oneOf(CodePoints.of(digit));
    }

    /** What may follow where no bound is near any more. */
    private Expression free(int at, int length) {
      Expression behind = repeat(DIGIT, 0, MOST_DIGITS);
      if (at > length) {
        return behind;
      }
      Expression before = repeat(DIGIT, length - at, length - at);
      Expression pointed = sequence(literal("."), DIGIT, behind);
      return whole ? before : sequence(before, Expression.optional(pointed));
    }

    /** At least one more digit behind the point. */
    private Expression further(int at, int length, boolean onLow, boolean onHigh) {
      if (at < length + fraction) {
        return digit(at, length, onLow, onHigh);
      }
      if (onHigh) {
        return NO_NUMBER; // zeros would say the same, all else is more
      }
      Expression zeros = repeat(literal("0"), 0, MOST_DIGITS);
      Expression more = sequence(zeros, JsonText.oneOf(CodePoints.range('1', '9')));
      Expression behind = repeat(DIGIT, 0, MOST_DIGITS);
      return onLow && aboveLeast ? sequence(more, behind) : sequence(DIGIT, behind);
    }

    private boolean mayStop(int at, boolean onLow, boolean onHigh) {
      boolean isLow = onLow && isZeros(low, at);
      boolean isHigh = onHigh && isZeros(high, at);
      return (!onLow || isLow && !aboveLeast) && !(isHigh && belowMost);
    }

    private static boolean isZeros(String digits, int from) {
      return digits.chars().skip(from).allMatch(c -> c == '0');
    }
  }
}
