package dev.kvasir.lab.claim;

/**
 * A sentence of a paper that can be tried.
 *
 * @param place where the paper says it
 * @param says in our words
 * @param trial what tries it
 * @param because why it fails here, as far as we know
 */
public record Claim(
    Paper paper,
    String section,
    String statement,
    Experiment experiment,
    Check check,
    String failureReason) {}
