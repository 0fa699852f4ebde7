package dev.kvasir.page;

/** How many tokens lie on a page, which every layout of one is made for. */
public final class PageSize {
  public static final int TOKENS = 128;

  private PageSize() {}
}
