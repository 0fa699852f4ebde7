/**
 * What methods share that give more bits to the tokens of a page that are looked at most: the
 * queries that tell which those are, a page of two widths, and its reader.
 */
package dev.kvasir.codec.ranked;
