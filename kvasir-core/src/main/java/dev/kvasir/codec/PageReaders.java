package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The readers of one worker, one for each kind of page it has seen. A page selects its reader, so
 * attention need not know the kinds of pages.
 */
public final class PageReaders {
  /**
   * A kind of reader, compared by identity.
   *
   * @param <R> the class of its readers
   */
  public static final class Kind<R extends PageReader> {
    private final Function<PageReaders, R> make;

    /**
     * Creates a kind.
     *
     * @param make creates a reader; may ask for readers of other kinds to build on
     */
    public Kind(Function<PageReaders, R> make) {
      this.make = make;
    }
  }

  private final PageWorkspace workspace;
  private final int keyDim;
  private final int valueDim;
  private final List<Kind<?>> kinds = new ArrayList<>();
  private final List<PageReader> readers =
      new ArrayList<>(); // one for each kind, in the same order
  private PageReaders firstHead = this;
  private int head; // of those that pass together
  private int heads = 1;

  /**
   * Creates an empty set of readers.
   *
   * @param keyDim channels of a key
   * @param valueDim channels of a value
   */
  public PageReaders(Kernels kernels, int keyDim, int valueDim) {
    this.workspace = new PageWorkspace(kernels);
    this.keyDim = keyDim;
    this.valueDim = valueDim;
  }

  public Kernels kernels() {
    return workspace.kernels();
  }

  /** Returns the worker's memory for dequantizing pages. */
  public PageWorkspace workspace() {
    return workspace;
  }

  public int keyDim() {
    return keyDim;
  }

  public int valueDim() {
    return valueDim;
  }

  /** Returns the worker's reader of a kind, creating it on first use. */
  @SuppressWarnings("unchecked") // the reader was created by its kind
  public <R extends PageReader> R of(Kind<R> kind) {
    for (int i = 0; i < kinds.size(); i++) {
      if (kinds.get(i) == kind) {
        return (R) readers.get(i);
      }
    }
    R reader = kind.make.apply(this);
    reader.beginPass();
    kinds.add(kind);
    readers.add(reader);
    return reader;
  }

  /** Starts a pass over the pages of a single KV head. */
  public void beginPass() {
    beginPass(this, 0, 1);
  }

  /**
   * Starts a pass over the pages of one of several adjacent KV heads that pass together: all of
   * them visit a page, in their order, before the first one visits the next page.
   *
   * @param ofFirst readers of the first of them
   * @param place index of this head among them
   * @param count their number
   */
  public void beginPass(PageReaders ofFirst, int place, int count) {
    firstHead = ofFirst;
    head = place;
    heads = count;
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).beginPass();
    }
  }

  /** Returns the readers of the first KV head of those that pass together. */
  public PageReaders firstHead() {
    return firstHead;
  }

  /** Returns the index of this KV head among those that pass together. */
  public int head() {
    return head;
  }

  /** Returns the number of KV heads that pass together. */
  public int heads() {
    return heads;
  }

  /** Scales deferred sums of a row after its running maximum has grown. */
  public void rescale(int row, float factor) {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).rescale(row, factor);
    }
  }

  public void endPass(int rows, float[] accumulator) {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).endPass(rows, accumulator);
    }
  }
}
