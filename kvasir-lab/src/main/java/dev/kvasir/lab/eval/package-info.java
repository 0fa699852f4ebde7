/**
 * What a kind of cache does to a model's answers: the same tasks with every kind, half precision
 * first, and every figure with its sampling error.
 */
package dev.kvasir.lab.eval;
