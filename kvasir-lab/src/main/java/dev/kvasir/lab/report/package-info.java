/**
 * Renders evaluations: tables, a page of charts, plots for documents, and the standard comparison
 * tables. {@link dev.kvasir.lab.report.Column} defines the columns of all tables. {@link
 * dev.kvasir.lab.report.Report} writes the HTML page, {@link dev.kvasir.lab.report.ResultsFile} the
 * tables of the results page, and {@link dev.kvasir.lab.report.StandardTable} lists the compared
 * caches. The package uses the lab packages allocate, eval and inspect, and the cache and codec
 * packages of kvasir-core.
 */
package dev.kvasir.lab.report;
