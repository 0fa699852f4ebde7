package dev.kvasir.lab.dataset;

/** Judges an answer by one metric. */
public interface Judge {
  /**
   * The result of one answer.
   *
   * @param points points of the answer
   * @param outOf points of a perfect one; answers weigh as much in the mean
   */
  record Mark(double points, double outOf) {
    static Mark of(double share) {
      return new Mark(share, 1);
    }
  }

  Mark mark(String answer);

  /** Returns what answers have in common that count as the same in a vote. */
  default String vote(String answer) {
    return answer.strip();
  }
}
