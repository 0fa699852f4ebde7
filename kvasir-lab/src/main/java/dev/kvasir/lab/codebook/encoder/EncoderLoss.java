package dev.kvasir.lab.codebook.encoder;

/** The squared errors that training reduces, each relative to the squares of what is encoded. */
public enum EncoderLoss {
  /** Errors of values, as the text of the paper has it. */
  VALUES,

  /** Errors of what later queries read: sums of values weighted by attention. */
  OUTPUTS,

  /** The sum of both, as in the authors' code. */
  BOTH;

  boolean countsValues() {
    return this != OUTPUTS;
  }

  boolean countsOutputs() {
    return this != VALUES;
  }
}
