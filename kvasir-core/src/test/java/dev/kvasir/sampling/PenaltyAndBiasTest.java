package dev.kvasir.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.SamplingOptions;
import dev.kvasir.TokenLogprob;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PenaltyAndBiasTest {
  private static final SamplingOptions GREEDY = SamplingOptions.greedy();
  private static final float NO = Float.NEGATIVE_INFINITY;

  @Test
  void presenceCountsOnceAndFrequencyEachTime() {
    Sampler sampler =
        new Sampler(GREEDY.toBuilder().presencePenalty(0.5).frequencyPenalty(0.25).build());
    assertThat(change(sampler, 9, 1, 2)).containsExactly(9, 1, 2);
    assertThat(change(sampler, 9, 1, 2)).containsExactly(8.25f, 1, 2);
    assertThat(change(sampler, 9, 10, 2)).containsExactly(8, 10, 2);
    assertThat(change(sampler, -9, -1, -2)).containsExactly(-10, -1.75f, -2);
  }

  @Test
  void aNegativePenaltyMakesTokensLikelier() {
    Sampler sampler = new Sampler(GREEDY.toBuilder().presencePenalty(-2).build());
    change(sampler, 1, 0);
    assertThat(change(sampler, 1, 0)).containsExactly(3, 0);
  }

  @Test
  void tokensOfThePromptCountForTheRepetitionPenaltyAlone() {
    Sampler sampler =
        new Sampler(
            GREEDY.toBuilder().repetitionPenalty(2).presencePenalty(1).frequencyPenalty(1).build());
    sampler.markSeen(0);
    assertThat(change(sampler, 4, 3)).containsExactly(2, 3);
    // The repetition penalty is applied first.
    assertThat(change(sampler, 4, 3)).containsExactly(2, -0.5f);
  }

  @Test
  void aBiasIsAddedWhereTheVocabularyHasTheToken() {
    Sampler sampler =
        new Sampler(GREEDY.toBuilder().logitBias(Map.of(1, 5f, 0, -100f, 7, 100f)).build());
    float[] padded = {1, 2, 3, 4, 0, 0, 0, 0, 0};
    assertThat(sampler.sample(padded, 1, 3)).isEqualTo(1);
    assertThat(padded).containsExactly(1, -98, 8, 4, 0, 0, 0, 0, 0);
  }

  @Test
  void aBadBiasIsRefused() {
    assertThatThrownBy(() -> GREEDY.toBuilder().logitBias(Map.of(3, 100.5f)).build())
        .hasMessage("the logit bias of token 3 is 100.5; expected -100 to 100");
    assertThatThrownBy(() -> GREEDY.toBuilder().logitBias(Map.of(3, Float.NaN)).build())
        .hasMessage("the logit bias of token 3 is NaN; expected -100 to 100");
    assertThatThrownBy(() -> GREEDY.toBuilder().logitBias(Map.of(-3, 1f)).build())
        .hasMessage("a token of the logit bias is -3; expected 0 or more");
    assertThatThrownBy(() -> GREEDY.toBuilder().logitBias(Map.of(300, 1f)).build().checkTokens(300))
        .hasMessage("a token of the logit bias is 300; expected 0 to 299");
    GREEDY.toBuilder().logitBias(Map.of(299, 1f)).build().checkTokens(300);
  }

  @Test
  void aBadPenaltyIsRefused() {
    for (double bad : new double[] {-2.01, 2.01, Double.NaN}) {
      assertThatThrownBy(() -> GREEDY.toBuilder().presencePenalty(bad).build())
          .hasMessage("presence penalty is " + bad + "; expected -2 to 2");
      assertThatThrownBy(() -> GREEDY.toBuilder().frequencyPenalty(bad).build())
          .hasMessage("frequency penalty is " + bad + "; expected -2 to 2");
    }
  }

  @Test
  void aBiasIsKeptAsItWasGiven() {
    Map<Integer, Float> bias = new HashMap<>(Map.of(1, 2f));
    SamplingOptions options = GREEDY.toBuilder().logitBias(bias).build();
    bias.put(1, 3f);
    assertThat(options.logitBias()).isEqualTo(Map.of(1, 2f));
  }

  @Test
  void aConstraintFollowsTheBiasAndSeesEveryToken() {
    Alternating constraint = new Alternating();
    Sampler sampler =
        new Sampler(GREEDY.toBuilder().logitBias(Map.of(0, 100f)).build(), constraint);
    assertThat(change(sampler, 1, 2, 3, 4)).containsExactly(101, NO, 3, NO);
    assertThat(constraint.last).isZero();
    assertThat(change(sampler, 1, 2, 3, 4)).containsExactly(NO, 2, NO, 4);
    assertThat(constraint.last).isEqualTo(3);
  }

  @Test
  void aConstraintHidesNoDamage() {
    Sampler sampler = new Sampler(GREEDY, new Alternating());
    assertThatThrownBy(() -> change(sampler, 1, Float.NaN, 3))
        .hasMessage("the model gave token 1 a logit of NaN: its weights are damaged");
  }

  @Test
  void logprobsAreTheModelsOwn() {
    SamplingOptions options =
        GREEDY.toBuilder().logitBias(Map.of(0, 90f)).temperature(0.3).presencePenalty(2).build();
    Sampler sampler = new Sampler(options, new Alternating(), OptionalInt.of(3));
    float[] logits = {
      (float) Math.log(0.1), (float) Math.log(0.4), (float) Math.log(0.1), (float) Math.log(0.4)
    };
    sampler.sample(logits, 0, 4);
    TokenLogprob logprob = sampler.lastLogprob();
    assertThat(logprob.token()).isZero();
    assertThat(logprob.logprob()).isCloseTo(Math.log(0.1), within(1e-6));
    assertThat(logprob.top()).extracting(TokenLogprob.Alternative::token).containsExactly(1, 3, 0);
    assertThat(logprob.top().get(1).logprob()).isCloseTo(Math.log(0.4), within(1e-6));
  }

  @Test
  void alternativesAreLimitedByRequestAndVocabulary() {
    for (int top : new int[] {0, 1, 5, 20}) {
      Sampler sampler = new Sampler(GREEDY, TokenConstraint.NONE, OptionalInt.of(top));
      change(sampler, 1, 2, 3, 4, 5, 6, 7);
      assertThat(sampler.lastLogprob().top()).hasSize(Math.min(top, 7));
      assertThat(sampler.lastLogprob().token()).isEqualTo(6);
    }
    for (int bad : new int[] {-1, 21}) {
      assertThatThrownBy(() -> new Sampler(GREEDY, TokenConstraint.NONE, OptionalInt.of(bad)))
          .hasMessage("top logprobs are " + bad + "; expected 0 to 20");
    }
    assertThatThrownBy(() -> new Sampler(GREEDY).lastLogprob())
        .hasMessage("this sampler does not record logprobs");
  }

  @Test
  void penaltiesAndBiasDoNotAllocateAfterWarmUp() {
    Random random = new Random(1);
    float[] logits = new float[3000];
    SamplingOptions options =
        SamplingOptions.builder()
            .presencePenalty(1)
            .frequencyPenalty(1)
            .logitBias(Map.of(5, 1f, 2900, 2f))
            .build();
    Sampler sampler = new Sampler(options);
    sampler.markSeen(logits.length - 1);
    for (int t = 0; t < logits.length; t++) {
      logits[t] = (float) random.nextGaussian();
    }
    assertThat(SamplerTest.leastBytes(() -> sampler.sample(logits, 0, logits.length))).isZero();
  }

  private static float[] change(Sampler sampler, float... logits) {
    sampler.sample(logits, 0, logits.length);
    return logits;
  }

  /** Allows even and odd tokens alternately. */
  private static final class Alternating implements TokenConstraint {
    private int parity;
    private int last = -1;

    @Override
    public void mask(float[] logits, int at, int vocabulary) {
      for (int i = 1 - parity; i < vocabulary; i += 2) {
        logits[at + i] = NO;
      }
    }

    @Override
    public void accept(int token) {
      last = token;
      parity = 1 - parity;
    }
  }
}
