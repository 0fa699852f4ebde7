package dev.kvasir.cuda.engine;

import java.util.List;

/**
 * The decoders of consecutive layers, each on a card, which compute a step one after another. All
 * have the same rows. The residual stream is copied from card to card between them.
 *
 * <pre>
 * card 0   inputs | graph | event
 * card 1   inputs         | wait, copy | graph | event
 * card 2   inputs                              | wait, copy | graph | logits
 * </pre>
 *
 * A chain of one decoder is the usual case and copies nothing.
 */
final class DecoderChain {
  private final DeviceDecoder[] decoders;
  private final DeviceDecoder last;

  /**
   * @param decoders in the order of their layers
   */
  DecoderChain(List<DeviceDecoder> decoders) {
    this.decoders = decoders.toArray(DeviceDecoder[]::new);
    this.last = decoders.getLast();
  }

  long weightBytes() {
    long bytes = 0;
    for (DeviceDecoder each : decoders) {
      bytes += each.weightBytes();
    }
    return bytes;
  }

  void setListener(StepTimingListener by) {
    for (DeviceDecoder each : decoders) {
      each.setListener(by);
    }
  }

  /** Returns whether two sequences share their resources on every card. */
  boolean areAlike(DeviceSequence one, DeviceSequence other) {
    for (int card = 0; card < decoders.length; card++) {
      if (one.part(card).resources() != other.part(card).resources()) {
        return false;
      }
    }
    return true;
  }

  /** Starts a step of sequences that are like one. */
  void begin(DeviceSequence like) {
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].begin(like.part(card).resources());
    }
  }

  /** Returns whether a row of a sequence still fits. */
  boolean fits(DeviceSequence sequence) {
    for (int card = 0; card < decoders.length; card++) {
      if (!decoders[card].fits(pages(sequence, card).tableSize())) {
        return false;
      }
    }
    return true;
  }

  private static SequencePages pages(DeviceSequence sequence, int card) {
    return sequence.part(card).pages();
  }

  boolean dequantizesForPrefill(DeviceSequence like) {
    return like.part(0).resources().dequantizesForPrefill();
  }

  /** Grows the dequantization workspaces for the sequence's pages, if memory is available. */
  void reserveForChunk(DeviceSequence sequence) {
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].enter();
      decoders[card].reserveForChunk(pages(sequence, card));
    }
  }

  /** Returns whether the rows of a sequence can form a chunk in some part of a step. */
  boolean canChunk(DeviceSequence sequence) {
    for (int card = 0; card < decoders.length; card++) {
      DeviceCache part = sequence.part(card);
      if (part.resources().prefillAttention().isEmpty() || !decoders[card].canChunk(part.pages())) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether they can form a chunk in the current part. */
  boolean canChunkNow(DeviceSequence sequence) {
    for (int card = 0; card < decoders.length; card++) {
      if (!decoders[card].canChunkNow(pages(sequence, card))) {
        return false;
      }
    }
    return true;
  }

  int rowsLeft() {
    return last.rowsLeft();
  }

  int logitRowsLeft() {
    return last.logitRowsLeft();
  }

  int rows() {
    return last.rows();
  }

  /** Adds the row of a generated token, before all rows of prompts. Its position is reserved. */
  void addGenerated(DeviceSequence sequence, int token, int position, boolean wanted) {
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].addGenerated(
          pages(sequence, card), token, position, wanted && decoders[card] == last);
    }
  }

  /** Adds a row of a prompt that attends on its own, before all chunks. */
  void add(DeviceSequence sequence, int token, int position, boolean wanted) {
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].add(pages(sequence, card), token, position, wanted && decoders[card] == last);
    }
  }

  /** Starts a chunk; its rows are added next. */
  void beginChunk(DeviceSequence sequence, int position, int count) {
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].beginChunk(pages(sequence, card), position, count);
    }
  }

  /** Adds a row to the current chunk. */
  void addRow(DeviceSequence sequence, int token, int position, boolean wanted) {
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].addRow(
          pages(sequence, card), token, position, wanted && decoders[card] == last);
    }
  }

  /** Submits the step without waiting for it; the last card is current for this thread then. */
  void run() {
    for (DeviceDecoder each : decoders) {
      each.enter();
      each.upload();
    }
    for (int card = 0; card < decoders.length; card++) {
      decoders[card].enter();
      decoders[card].run();
      if (decoders[card] != last) {
        decoders[card].passRows(decoders[card + 1]);
      }
    }
  }

  /** Waits for the step and returns the argmax tokens of rows with logits, until the next step. */
  int[] argmaxTokens() {
    return last.argmaxTokens();
  }

  /** Reads the logits of a row by its index among rows with logits. */
  void logits(int index, float[] out, int at) {
    last.logits(index, out, at);
  }
}
