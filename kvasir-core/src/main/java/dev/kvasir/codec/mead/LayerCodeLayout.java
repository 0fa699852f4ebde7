package dev.kvasir.codec.mead;

import java.util.List;

/**
 * Code layout of a layer at one rate, and the byte layout of its pages.
 *
 * @param heads by KV head
 */
record LayerCodeLayout(List<HeadCodeLayout> heads, MeadPageLayout layout) {}
