package dev.kvasir.grammar;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A set of code points, as sorted and disjoint ranges. Surrogates are excluded. */
record CodePoints(List<Range> ranges) {
  /** From {@code first} to {@code last}, both inclusive. */
  record Range(int first, int last) {}

  private static final int FIRST_SURROGATE = 0xD800;
  private static final int LAST_SURROGATE = 0xDFFF;

  static final CodePoints NONE = new CodePoints(List.of());
  static final CodePoints ALL =
      new CodePoints(
          List.of(
              new Range(0, FIRST_SURROGATE - 1),
              new Range(LAST_SURROGATE + 1, Character.MAX_CODE_POINT)));

  static CodePoints of(int codePoint) {
    return range(codePoint, codePoint);
  }

  static CodePoints range(int first, int last) {
    return new CodePoints(List.of(new Range(first, last))).and(ALL);
  }

  static CodePoints of(String each) {
    CodePoints all = NONE;
    for (int c : each.codePoints().toArray()) {
      all = all.or(of(c));
    }
    return all;
  }

  boolean isEmpty() {
    return ranges.isEmpty();
  }

  boolean contains(int codePoint) {
    return ranges.stream().anyMatch(r -> r.first <= codePoint && codePoint <= r.last);
  }

  CodePoints or(CodePoints other) {
    List<Range> sorted = new ArrayList<>(ranges);
    sorted.addAll(other.ranges);
    sorted.sort(Comparator.comparingInt(Range::first));
    List<Range> merged = new ArrayList<>();
    for (Range range : sorted) {
      if (!merged.isEmpty() && range.first <= merged.getLast().last + 1) {
        Range before = merged.removeLast();
        merged.add(new Range(before.first, Math.max(before.last, range.last)));
      } else {
        merged.add(range);
      }
    }
    return new CodePoints(List.copyOf(merged));
  }

  CodePoints and(CodePoints other) {
    List<Range> common = new ArrayList<>();
    for (Range a : ranges) {
      for (Range b : other.ranges) {
        int first = Math.max(a.first, b.first);
        int last = Math.min(a.last, b.last);
        if (first <= last) {
          common.add(new Range(first, last));
        }
      }
    }
    return new CodePoints(List.copyOf(common));
  }

  CodePoints not() {
    List<Range> gaps = new ArrayList<>();
    int next = 0;
    for (Range range : ranges) {
      if (range.first > next) {
        gaps.add(new Range(next, range.first - 1));
      }
      next = range.last + 1;
    }
    if (next <= Character.MAX_CODE_POINT) {
      gaps.add(new Range(next, Character.MAX_CODE_POINT));
    }
    return new CodePoints(List.copyOf(gaps)).and(ALL);
  }

  CodePoints minus(CodePoints other) {
    return and(other.not());
  }
}
