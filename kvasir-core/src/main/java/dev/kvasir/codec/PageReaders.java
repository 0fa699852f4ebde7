package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The readers of one worker, one for each kind of page that it has met. Pages choose among them, so
 * that whoever walks over pages need not know what kinds there are.
 */
public final class PageReaders {
  /**
   * A kind of reader, told from others by identity.
   *
   * @param <R> the class of its readers
   */
  public static final class Kind<R extends PageReader> {
    private final Function<PageReaders, R> make;

    /**
     * @param make may ask for readers of other kinds, to build on them
     */
    public Kind(Function<PageReaders, R> make) {
      this.make = make;
    }
  }

  private final PageWorkspace workspace;
  private final int keyDim;
  private final int valueDim;
  private final List<Kind<?>> kinds = new ArrayList<>();
  private final List<PageReader> readers = new ArrayList<>(); // one for each kind, in their order

  /**
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

  /** What the worker expands pages with. */
  public PageWorkspace workspace() {
    return workspace;
  }

  public int keyDim() {
    return keyDim;
  }

  public int valueDim() {
    return valueDim;
  }

  /** The worker's reader of a kind, made when it is first asked for. */
  @SuppressWarnings("unchecked") // a kind's reader was made by it
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

  /** A walk begins. */
  public void beginPass() {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).beginPass();
    }
  }

  /** A row's running maximum has grown. */
  public void rescale(int row, float factor) {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).rescale(row, factor);
    }
  }

  /** The walk is over. */
  public void endPass(int rows, float[] accumulator) {
    for (int i = 0; i < readers.size(); i++) {
      readers.get(i).endPass(rows, accumulator);
    }
  }
}
