package dev.kvasir.codec.mixkvq;

/** The shares of channels in the upper tiers, from which page sizes are estimated. */
public record TierShares(double high, double mid) {}
