/**
 * Generates retrieval tasks of any length in the style of InfiniteBench, RULER and LongEval. {@link
 * dev.kvasir.lab.synthetic.SizedSamples} makes a task as long as a number of tokens allows. The
 * package uses the lab packages task and text.
 */
package dev.kvasir.lab.synthetic;
