/**
 * Tests the claims of papers against local measurements. {@link dev.kvasir.lab.claim.Ledger} judges
 * every {@link dev.kvasir.lab.claim.Claim} by the measurements of its {@link
 * dev.kvasir.lab.claim.Experiment}, and {@link dev.kvasir.lab.claim.LedgerPage} renders the
 * verdicts. The package uses the lab packages eval and report.
 */
package dev.kvasir.lab.claim;
