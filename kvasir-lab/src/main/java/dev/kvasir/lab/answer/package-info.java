/**
 * Judges generated answers by the metrics that published benchmarks use: overlap of words ({@link
 * dev.kvasir.lab.answer.TokenF1}, {@link dev.kvasir.lab.answer.RougeL}), similarity of code, names
 * of classes, numbers, boxed results, choices, rules of an instruction and programs that run. The
 * package depends on no other package of the lab.
 */
package dev.kvasir.lab.answer;
