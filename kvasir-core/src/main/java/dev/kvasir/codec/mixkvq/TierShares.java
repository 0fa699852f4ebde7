package dev.kvasir.codec.mixkvq;

/** What part of all channels is in the upper tiers: what a page's size is foretold by. */
public record TierShares(double high, double mid) {}
