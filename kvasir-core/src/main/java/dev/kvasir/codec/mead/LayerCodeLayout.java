package dev.kvasir.codec.mead;

import java.util.List;

/**
 * How a layer's tokens are coded at one rate, and the bytes of its pages.
 *
 * @param heads by KV head
 */
record LayerCodeLayout(List<HeadCodeLayout> heads, MeadPageLayout layout) {}
