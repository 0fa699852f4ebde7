/**
 * A small model to try Kvasir with, and its calibration profile. {@link MiniModel} names the files
 * for {@link dev.kvasir.Model#bundled()}. Uses {@code dev.kvasir.spi} only.
 */
package dev.kvasir.mini;
