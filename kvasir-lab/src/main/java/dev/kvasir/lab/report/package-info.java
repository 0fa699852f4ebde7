/**
 * An evaluation for people: the columns that every table shows, a page of charts, and the standard
 * table of all methods.
 */
package dev.kvasir.lab.report;
