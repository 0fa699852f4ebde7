package dev.kvasir.codec;

/** Which pages of a layer become narrower when they do not fit. */
public enum RequantizeScope {
  /** All of them: the paper's. Right after a step about half of the layer's room is free. */
  LAYER,

  /** The oldest, as many as it takes: the room is used to within a page. */
  PAGE
}
