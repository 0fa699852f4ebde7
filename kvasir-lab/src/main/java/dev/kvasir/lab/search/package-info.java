/**
 * Multi-objective parameter search for expensive trials. {@link dev.kvasir.lab.search.TpeSampler}
 * proposes the next point from earlier {@link dev.kvasir.lab.search.Trial}s, and {@link
 * dev.kvasir.lab.search.ParetoFront} selects the best ones. The package uses the JDK only.
 */
package dev.kvasir.lab.search;
