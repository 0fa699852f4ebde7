/**
 * Reproduces the tables and figures of the papers. {@link dev.kvasir.lab.reproduce.PaperTables}
 * lists them; each {@link dev.kvasir.lab.reproduce.PaperTable} has a {@link
 * dev.kvasir.lab.reproduce.Procedure} that computes its figures, and the published ones lie beside
 * the classes as resources. The package uses the lab packages analysis, codebook, dataset, eval,
 * inspect, synthetic, text, tune and work.
 */
package dev.kvasir.lab.reproduce;
