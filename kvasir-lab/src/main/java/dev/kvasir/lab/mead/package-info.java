/** Learns of a model what Mead needs: its tables, its metric, and who deserves bits. */
package dev.kvasir.lab.mead;
