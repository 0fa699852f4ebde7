package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class DistributionsTest {
  private static double divergence(float[] p, float[] q) {
    return Distributions.divergence(p, 0, q, 0, p.length, Distributions.logSumExp(q, 0, q.length));
  }

  /** p = (3/4, 1/4), q = (1/2, 1/2): 3/4 ln(3/2) + 1/4 ln(1/2). */
  @Test
  void divergenceMatchesTheDefinition() {
    float[] p = {(float) Math.log(3), 0};
    float[] q = {7, 7};
    assertThat(divergence(p, q))
        .isEqualTo(0.75 * Math.log(1.5) + 0.25 * Math.log(0.5), within(1e-7));
    assertThat(divergence(q, p))
        .isEqualTo(0.5 * Math.log(0.5 / 0.75) + 0.5 * Math.log(2), within(1e-7));
  }

  @Test
  void divergenceFromItselfIsExactlyZero() {
    float[] p = {0.1f, -3.3f, 12.25f, 1e-3f, 88};
    assertThat(divergence(p, p)).isZero();
  }

  @Test
  void addingAConstantChangesNothing() {
    float[] p = {1, 2, 3};
    assertThat(divergence(p, new float[] {101, 102, 103})).isEqualTo(0, within(1e-12));
  }

  @Test
  void hugeLogitsDoNotOverflow() {
    float[] p = {1e30f, 0};
    float[] q = {1000, 0};
    assertThat(Distributions.logSumExp(q, 0, 2)).isEqualTo(1000);
    assertThat(divergence(q, q)).isZero();
    assertThat(divergence(p, p)).isZero();
  }

  @Test
  void rowsCanStartAtAnyOffset() {
    float[] p = {9, (float) Math.log(3), 0, 9};
    float[] q = {9, 9, 5, 5};
    assertThat(Distributions.divergence(p, 1, q, 2, 2, Distributions.logSumExp(q, 2, 2)))
        .isEqualTo(0.75 * Math.log(1.5) + 0.25 * Math.log(0.5), within(1e-7));
  }

  @Test
  void aBlockOfDistributionsIsComparedAsEachAlone() {
    int vocabulary = 5;
    float[] p = {3, 1, 0, -2, -90, 0.5f, 0.25f, 4, 4, 1};
    float[] q = {2, 1.5f, 0, -2, -80, 0.5f, 0.25f, 4, 4, 1};
    int[] ids = {0, 1, 3};
    ReferenceDistributions reference = new ReferenceDistributions(2, vocabulary);
    reference.take(p, i -> i * vocabulary, 0, 2);
    ReferenceDistributions.TokenScore[] scores =
        reference.compare(q, i -> i * vocabulary, 0, 2, ids, 1);
    double norm = Distributions.logSumExp(q, 0, vocabulary);
    assertThat(scores[0].divergence())
        .isEqualTo(Distributions.divergence(p, 0, q, 0, vocabulary, norm), within(1e-7));
    assertThat(scores[0].surprise()).isEqualTo(norm - 1.5f);
    assertThat(scores[0].sameTop()).isTrue();
    assertThat(scores[1].divergence()).as("equal rows").isZero();
  }
}
