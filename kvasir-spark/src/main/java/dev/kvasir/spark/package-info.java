/** Runs pieces of the lab's work as jobs of Spark. Nothing else of Kvasir knows Spark. */
package dev.kvasir.spark;
