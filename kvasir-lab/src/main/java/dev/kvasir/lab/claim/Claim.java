package dev.kvasir.lab.claim;

/**
 * A claim of a paper that can be tested.
 *
 * @param section where the paper makes it
 * @param statement the claim in our words
 * @param experiment experiment that tests it
 * @param failureReason why it fails here, as far as known
 */
public record Claim(
    Paper paper,
    String section,
    String statement,
    Experiment experiment,
    Check check,
    String failureReason) {}
