package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.CodeScratch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A worker's kernels and scratch memory for dequantizing pages. Each kind of page adds its own
 * scratch object and finds it again at the next page. A workspace lives as long as the worker's
 * readers, or for a single call.
 */
public final class PageWorkspace {
  private final Kernels kernels;
  private final CodeScratch codes = new CodeScratch();
  private final List<Object> scratches = new ArrayList<>(); // at most one of each class

  public PageWorkspace(Kernels kernels) {
    this.kernels = kernels;
  }

  public Kernels kernels() {
    return kernels;
  }

  /** Returns the scratch memory for code matrices. */
  public CodeScratch codes() {
    return codes;
  }

  /** Returns the scratch object of a class, creating it on first use. */
  public <T> T scratch(Class<T> type, Supplier<T> make) {
    for (int i = 0; i < scratches.size(); i++) {
      if (scratches.get(i).getClass() == type) {
        return type.cast(scratches.get(i));
      }
    }
    T scratch = make.get();
    scratches.add(scratch);
    return scratch;
  }
}
