package dev.kvasir.page;

/** The number of tokens per page, which every page layout is built for. */
public final class PageSize {
  public static final int TOKENS = 128;

  private PageSize() {}
}
