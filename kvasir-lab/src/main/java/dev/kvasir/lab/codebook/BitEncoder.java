package dev.kvasir.lab.codebook;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * The learned value encoder of the paper, for comparison with the search of {@link StagesTrainer}.
 * A vector becomes bits, and bits become a sum of codebook rows:
 *
 * <pre>
 * n = layer norm of x,  h = gelu(W1 n + b1),  logits = W2 h + b2
 * four logits choose the bit pairs 10, 01, 11, 00;  decoded = bits . C
 * </pre>
 *
 * In training the choice is soft, a Gumbel softmax with a temperature, so that gradients pass; in
 * use it is the argmax. Gradients are of the squared error.
 */
final class BitEncoder {
  /** Logits of a bit pair. */
  private static final int CHOICES = 4;

  /** Which of the choices set the first bit of the pair, and which the second. */
  private static final double[] FIRST = {1, 0, 1, 0};

  private static final double[] SECOND = {0, 1, 1, 0};

  private static final double EPSILON = 1e-5;

  private final int length;
  private final int hidden;
  private final int bits;
  private final Dense inner;
  private final Dense outer;
  private final int codebookAt;
  private final double[] parameters;

  // Activations of one vector that the backward pass needs.
  private final double[] normed;
  private final double[] sums; // before gelu
  private final double[] active;
  private final double[] logits;
  private final double[] choices;
  private final double[] bitValues;
  private final double[] decoded;

  BitEncoder(int length, int hidden, int bits, RandomGenerator random) {
    this.length = length;
    this.hidden = hidden;
    this.bits = bits;
    this.inner = new Dense(0, length, hidden);
    this.outer = new Dense(inner.end(), hidden, CHOICES * bits / 2);
    this.codebookAt = outer.end();
    this.parameters = new double[codebookAt + bits * length];
    this.normed = new double[length];
    this.sums = new double[hidden];
    this.active = new double[hidden];
    this.logits = new double[CHOICES * bits / 2];
    this.choices = new double[logits.length];
    this.bitValues = new double[bits];
    this.decoded = new double[length];
    inner.initialize(parameters, random);
    outer.initialize(parameters, random);
    for (int i = codebookAt; i < parameters.length; i++) {
      parameters[i] = random.nextGaussian() / Math.sqrt((double) bits * length);
    }
  }

  /** Returns all weights, biases and the codebook, which training modifies. */
  double[] parameters() {
    return parameters;
  }

  int logitCount() {
    return logits.length;
  }

  private void encodeSoftly(float[] x, int at, double[] noise, double temperature) {
    encode(x, at);
    for (int i = 0; i < logits.length; i += CHOICES) {
      softmax(i, noise, temperature);
    }
    decode();
  }

  /**
   * Decodes the soft encoding of a vector.
   *
   * @param out (length) from {@code to} on, set
   */
  void reconstructSoftly(
      float[] x, int at, double[] noise, double temperature, double[] out, int to) {
    encodeSoftly(x, at, noise, temperature);
    System.arraycopy(decoded, 0, out, to, length);
  }

  /**
   * Adds the gradient of a loss of the output of {@link #reconstructSoftly}.
   *
   * @param toDecoded gradient of the loss with respect to the output, (length) from {@code from} on
   */
  void backpropagate(
      float[] x,
      int at,
      double[] noise,
      double temperature,
      double[] toDecoded,
      int from,
      double[] gradient) {
    encodeSoftly(x, at, noise, temperature);
    backward(Arrays.copyOfRange(toDecoded, from, from + length), temperature, gradient);
  }

  /**
   * Decodes the hard encoding of a vector.
   *
   * @param out (length) from {@code to} on, set
   */
  void reconstruct(float[] x, int at, double[] out, int to) {
    encodeHard(x, at);
    System.arraycopy(decoded, 0, out, to, length);
  }

  private void encodeHard(float[] x, int at) {
    encode(x, at);
    for (int i = 0; i < logits.length; i += CHOICES) {
      int best = i;
      for (int j = i + 1; j < i + CHOICES; j++) {
        best = logits[j] > logits[best] ? j : best;
      }
      Arrays.fill(choices, i, i + CHOICES, 0);
      choices[best] = 1;
    }
    decode();
  }

  private void encode(float[] x, int at) {
    double mean = 0;
    double square = 0;
    for (int d = 0; d < length; d++) {
      mean += x[at + d] / (double) length;
      square += (double) x[at + d] * x[at + d] / length;
    }
    double factor = 1 / Math.sqrt(Math.max(0, square - mean * mean) + EPSILON);
    for (int d = 0; d < length; d++) {
      normed[d] = (x[at + d] - mean) * factor;
    }
    inner.forward(parameters, normed, sums);
    for (int i = 0; i < hidden; i++) {
      active[i] = gelu(sums[i]);
    }
    outer.forward(parameters, active, logits);
  }

  private void softmax(int at, double[] noise, double temperature) {
    double most = Double.NEGATIVE_INFINITY;
    for (int i = at; i < at + CHOICES; i++) {
      choices[i] = (logits[i] + noise[i]) / temperature;
      most = Math.max(most, choices[i]);
    }
    double sum = 0;
    for (int i = at; i < at + CHOICES; i++) {
      choices[i] = Math.exp(choices[i] - most);
      sum += choices[i];
    }
    for (int i = at; i < at + CHOICES; i++) {
      choices[i] /= sum;
    }
  }

  private void decode() {
    Arrays.fill(decoded, 0);
    for (int bit = 0; bit < bits; bit++) {
      double[] sets = bit % 2 == 0 ? FIRST : SECOND;
      double value = 0;
      for (int choice = 0; choice < CHOICES; choice++) {
        value += sets[choice] * choices[bit / 2 * CHOICES + choice];
      }
      bitValues[bit] = value;
      for (int d = 0; d < length; d++) {
        decoded[d] += value * parameters[codebookAt + bit * length + d];
      }
    }
  }

  private void backward(double[] toDecoded, double temperature, double[] gradient) {
    double[] toLogits = new double[logits.length];
    for (int bit = 0; bit < bits; bit++) {
      int row = codebookAt + bit * length;
      double toBit = 0;
      for (int d = 0; d < length; d++) {
        toBit += toDecoded[d] * parameters[row + d];
        gradient[row + d] += toDecoded[d] * bitValues[bit];
      }
      double[] sets = bit % 2 == 0 ? FIRST : SECOND;
      for (int choice = 0; choice < CHOICES; choice++) {
        toLogits[bit / 2 * CHOICES + choice] += toBit * sets[choice];
      }
    }
    for (int i = 0; i < logits.length; i += CHOICES) {
      throughSoftmax(toLogits, i, temperature);
    }
    double[] toActive = outer.backward(parameters, active, toLogits, gradient);
    for (int i = 0; i < hidden; i++) {
      toActive[i] *= geluDerivative(sums[i]);
    }
    inner.backward(parameters, normed, toActive, gradient);
  }

  /** Converts gradients of choices to gradients of their logits. */
  private void throughSoftmax(double[] gradient, int at, double temperature) {
    double mean = 0;
    for (int i = at; i < at + CHOICES; i++) {
      mean += gradient[i] * choices[i];
    }
    for (int i = at; i < at + CHOICES; i++) {
      gradient[i] = choices[i] * (gradient[i] - mean) / temperature;
    }
  }

  /** The tanh approximation that most models use. */
  private static double gelu(double x) {
    return x / 2 * (1 + Math.tanh(geluArgument(x)));
  }

  private static double geluDerivative(double x) {
    double tanh = Math.tanh(geluArgument(x));
    double argumentSlope = Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x);
    return (1 + tanh) / 2 + x / 2 * (1 - tanh * tanh) * argumentSlope;
  }

  private static double geluArgument(double x) {
    return Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x);
  }

  /**
   * A linear layer among the parameters: (outputs, inputs) weights from {@code at} on, then biases.
   */
  private record Dense(int at, int inputs, int outputs) {
    int end() {
      return biasesAt() + outputs;
    }

    private int biasesAt() {
      return at + inputs * outputs;
    }

    void initialize(double[] parameters, RandomGenerator random) {
      for (int i = at; i < biasesAt(); i++) {
        parameters[i] = random.nextGaussian() / Math.sqrt(inputs);
      }
    }

    void forward(double[] parameters, double[] in, double[] out) {
      for (int o = 0; o < outputs; o++) {
        double sum = parameters[biasesAt() + o];
        for (int i = 0; i < inputs; i++) {
          sum += parameters[at + o * inputs + i] * in[i];
        }
        out[o] = sum;
      }
    }

    /** Adds to the gradient of the parameters and returns the gradient of the inputs. */
    double[] backward(double[] parameters, double[] in, double[] toOut, double[] gradient) {
      double[] toIn = new double[inputs];
      for (int o = 0; o < outputs; o++) {
        int row = at + o * inputs;
        gradient[biasesAt() + o] += toOut[o];
        for (int i = 0; i < inputs; i++) {
          gradient[row + i] += toOut[o] * in[i];
          toIn[i] += toOut[o] * parameters[row + i];
        }
      }
      return toIn;
    }
  }
}
