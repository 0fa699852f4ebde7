package dev.kvasir.model;

import dev.kvasir.cache.RecurrentStates;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.RecurrenceKernels;
import java.util.Arrays;

/**
 * A convolution of every channel over the tokens of each sequence, where an output depends on its
 * own and earlier inputs. The last inputs of a sequence are the first numbers of its layer's state,
 * the earliest token first: (taps - 1, channels).
 *
 * <p>Every output is the same sum in the same order, however a text is divided into steps.
 */
final class CausalConvolution {
  private final RecurrenceKernels kernels;
  private final StepRows rows;
  private final int taps;
  private final int channels;

  private float[] history = {}; // (sequences, taps - 1, channels)
  private float[] inputs; // (rows, channels)
  private int layer;

  CausalConvolution(RecurrenceKernels kernels, StepRows rows, int taps, int channels) {
    this.kernels = kernels;
    this.rows = rows;
    this.taps = taps;
    this.channels = channels;
  }

  /**
   * Reads what precedes the rows of a step.
   *
   * @param stateLayer index among the recurrent layers
   * @param stepInputs inputs of all rows // (rows, channels)
   */
  void begin(int stateLayer, float[] stepInputs) {
    layer = stateLayer;
    inputs = stepInputs;
    int each = (taps - 1) * channels;
    int sequences = rows.batch().sequences();
    if (history.length < sequences * each) {
      history = new float[sequences * each];
    }
    for (int s = 0; s < sequences; s++) {
      RecurrentStates states = rows.states(s);
      if (states != null) {
        states.read(layer, 0, history, s * each, each);
      }
    }
  }

  /**
   * Computes the outputs of a row.
   *
   * @param kernel // (taps, channels), the tap of the token itself last
   */
  void run(int row, float[] kernel, float[] outputs, int at) {
    Arrays.fill(outputs, at, at + channels, 0);
    int sequence = rows.sequenceOf(row);
    int index = row - rows.batch().firstRow(sequence);
    for (int tap = 0; tap < taps; tap++) {
      int token = index - (taps - 1) + tap;
      float[] from = token < 0 ? history : inputs;
      int fromAt = inputAt(sequence, token);
      kernels.addProducts(kernel, tap * channels, from, fromAt, outputs, at, channels);
    }
  }

  /** Returns where the inputs of a token are, in the rows of the step or in the history. */
  private int inputAt(int sequence, int token) {
    return channels
        * (token < 0
            ? sequence * (taps - 1) + taps - 1 + token
            : rows.batch().firstRow(sequence) + token);
  }

  /** Writes the last inputs of every sequence to its state. */
  void end() {
    Batch batch = rows.batch();
    for (int s = 0; s < batch.sequences(); s++) {
      RecurrentStates states = rows.states(s);
      int count = batch.endRow(s) - batch.firstRow(s);
      for (int i = 0; states != null && i < taps - 1; i++) {
        int token = count - (taps - 1) + i;
        float[] from = token < 0 ? history : inputs;
        states.write(layer, i * channels, from, inputAt(s, token), channels);
      }
    }
  }
}
