package dev.kvasir.codec;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.CodeScratch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * What one worker expands pages with: its kernels, and memory for what becomes of a page on the
 * way, which each kind of page brings along and finds again at the next page. It lives as long as
 * the worker's readers, or as one expansion where nobody keeps it.
 */
public final class PageWorkspace {
  private final Kernels kernels;
  private final CodeScratch codes = new CodeScratch();
  private final List<Object> scratches = new ArrayList<>(); // one of each class

  public PageWorkspace(Kernels kernels) {
    this.kernels = kernels;
  }

  public Kernels kernels() {
    return kernels;
  }

  /** For blocks of codes. */
  public CodeScratch codes() {
    return codes;
  }

  /** The room of a class, made when it is first asked for. */
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
