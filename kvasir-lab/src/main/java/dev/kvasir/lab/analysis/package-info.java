/**
 * Analyses of keys, values and queries that papers base their methods on. {@link
 * dev.kvasir.lab.analysis.KeysAndValues} reads the vectors of a text; the other classes compute one
 * statistic each and keep no state. The package uses the lab packages text and tune.
 */
package dev.kvasir.lab.analysis;
