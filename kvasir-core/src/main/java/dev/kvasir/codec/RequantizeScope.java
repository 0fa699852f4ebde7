package dev.kvasir.codec;

/** The pages of a layer that are requantized when memory is full. */
public enum RequantizeScope {
  /** All pages, as in the paper. Afterwards about half of the layer's memory is free. */
  LAYER,

  /** The oldest pages, as many as necessary. Memory stays full to within a page. */
  PAGE
}
