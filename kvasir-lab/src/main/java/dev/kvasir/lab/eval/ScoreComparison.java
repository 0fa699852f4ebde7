package dev.kvasir.lab.eval;

import java.util.Optional;

/**
 * How a score compares with the other rows of its column.
 *
 * @param fromReference difference from fp16
 * @param best whether no row except the reference has a better score
 * @param fromBest difference from the best row except the reference; empty for the reference itself
 */
public record ScoreComparison(
    Difference fromReference, boolean best, Optional<Difference> fromBest) {}
