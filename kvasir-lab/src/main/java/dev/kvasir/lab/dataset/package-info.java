/**
 * Reads benchmarks that users bring as JSON Lines files, in the format of their publishers, and
 * turns each line into a question with judges ({@link dev.kvasir.lab.dataset.Item}). No benchmark
 * comes with Kvasir; a few lines of our own in each format stand in for it in a quick run. The
 * package uses the lab packages answer, synthetic, task and text.
 */
package dev.kvasir.lab.dataset;
