package dev.kvasir.lab.eval;

import java.util.Optional;

/**
 * Where a row's score stands among the others of its column.
 *
 * @param fromReference against half precision
 * @param best whether no other row but the reference has a better figure
 * @param fromBest against the best row that is not the reference; empty for the reference itself
 */
public record ScoreComparison(
    Difference fromReference, boolean best, Optional<Difference> fromBest) {}
