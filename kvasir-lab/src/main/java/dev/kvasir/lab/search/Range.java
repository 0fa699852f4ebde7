package dev.kvasir.lab.search;

/** The range of a parameter. */
public record Range(double least, double most) {
  public Range {
    if (!(least < most)) {
      throw new IllegalArgumentException(
          "a range from %s to %s has nothing to choose from".formatted(least, most));
    }
  }

  double width() {
    return most - least;
  }
}
